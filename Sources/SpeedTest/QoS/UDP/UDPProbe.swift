import Coverage

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
}

extension UDPProbe {
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

/// The packets that this host sent, and the answers to them, as a value.
struct UDPAnswers: Hashable, Sendable {
  /// The time of each packet, ns of the clock, by its index.
  private var sent: [Int64] = []
  /// Round trips in ns by the index of their packet.
  private(set) var roundTrips: [Int: Int64] = [:]

  /// The number of the next packet. It is one byte: numbers repeat from 256 packets on.
  var nextNumber: UInt8 { UInt8(truncatingIfNeeded: sent.count) }
  var count: Int { sent.count }
  /// Whether each packet has its answer.
  var isComplete: Bool { roundTrips.count == sent.count }

  mutating func send(at time: Int64) { sent.append(time) }

  /// An answer. Its number means the newest packet that has it.
  mutating func answer(_ number: UInt8, at time: Int64) {
    guard let newest = sent.indices.last else { return }
    let index = newest - Int(UInt8(truncatingIfNeeded: newest) &- number)
    // No packet with this number was sent.
    guard index >= 0 else { return }
    if roundTrips[index] == nil { roundTrips[index] = max(0, time.saturatingSubtracting(sent[index])) }
  }
}

/// The count of a QoS server after a UDP test: `RCV packets duplicates {"0":ns,...}`. The parts after the packets may be missing.
struct UDPCount: Hashable, Sendable {
  let received: Int64
  /// Round trips in ns by packet, where the server measured them.
  let roundTrips: [Int64: Int64]

  /// `nil` for any other text, and for negative counts.
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
    guard words.count >= 2, words[0] == "RCV", let received = Int64(words[1]), received >= 0 else { return nil }
    self.received = received
    roundTrips = words.count > 3 ? Self.pairs(words[3]) : [:]
  }

  /// Numbers in pairs, `{"0":12,"1":13}` or `{0=12, 1=13}`; others are left out.
  private static func pairs(_ text: Substring) -> [Int64: Int64] {
    text.split(separator: ",").reduce(into: [:]) { pairs, entry in
      let numbers = entry.split { !($0.isASCII && ($0.isNumber || $0 == "-")) }.compactMap { Int64($0) }
      if numbers.count == 2, numbers[1] >= 0 { pairs[numbers[0]] = numbers[1] }
    }
  }

  /// The mean of round trips in ns, rounded down; `nil` without any.
  static func mean(_ roundTrips: some Collection<Int64>) -> Int64? {
    guard !roundTrips.isEmpty else { return nil }
    return roundTrips.reduce(0) { $0.saturatingAdding($1) } / Int64(roundTrips.count)
  }
}
