/// A packet of the UDP test: flag, number, uuid and time in 46 bytes, big-endian (docs/protocol.md, 8).
struct UDPProbe: Hashable, Sendable {
  /// The role of the packet. An answer has the same bytes as its packet but for the flag.
  enum Flag: UInt8, Hashable, Sendable {
    case silent = 1
    case answer = 2
    case answerWanted = 3
  }

  var flag: Flag
  /// The low byte of the index of the packet.
  var number: UInt8
  /// 36 ASCII bytes.
  let uuid: [UInt8]
  /// ns of the sender's clock, opaque to the other side.
  let time: Int64

  static let length = 46
  private static let uuidLength = 36

  init(flag: Flag, number: UInt8, uuid: [UInt8], time: Int64) {
    (self.flag, self.number, self.uuid, self.time) = (flag, number, uuid, time)
  }

  /// `nil` for a packet of another length or with an unknown flag.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length, let flag = Flag(rawValue: bytes[0]) else { return nil }
    self.flag = flag
    number = bytes[1]
    uuid = Array(bytes[2..<2 + Self.uuidLength])
    time = Int64(bitPattern: bytes[(2 + Self.uuidLength)...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  var bytes: [UInt8] {
    [flag.rawValue, number] + uuid + withUnsafeBytes(of: time.bigEndian) { Array($0) }
  }

  /// The uuid of packets: the token's part before the first `_`. Tokens of a lab can have another length: it is cut or filled up.
  static func uuid(of token: MeasurementToken) -> [UInt8] {
    let part = Array(token.text.utf8.prefix { $0 != UInt8(ascii: "_") }.prefix(uuidLength))
    return part + [UInt8](repeating: UInt8(ascii: "0"), count: uuidLength - part.count)
  }
}
