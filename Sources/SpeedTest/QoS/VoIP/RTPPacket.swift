/// The header of an RTP packet (RFC 3550, 5.1); ``bytes(payload:)`` adds the payload.
struct RTPPacket: Hashable, Sendable {
  /// The marker bit: set in the first packet of a call.
  var isMarked = false
  let payloadType: UInt8
  let sequence: UInt16
  /// Ticks of the sample clock.
  let timestamp: UInt32
  /// SSRC.
  let source: UInt32

  static let headerLength = 12

  init(isMarked: Bool, payloadType: UInt8, sequence: UInt16, timestamp: UInt32, source: UInt32) {
    (self.isMarked, self.payloadType) = (isMarked, payloadType)
    (self.sequence, self.timestamp, self.source) = (sequence, timestamp, source)
  }

  /// `nil` for a packet that is too short, or of another version.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.headerLength, bytes[0] >> 6 == 2 else { return nil }
    isMarked = bytes[1] & 0x80 != 0
    payloadType = bytes[1] & 0x7F
    sequence = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    timestamp = bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
    source = bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The whole packet: version 2, without padding, extension or contributing sources.
  func bytes(payload: [UInt8]) -> [UInt8] {
    [0x80, (isMarked ? 0x80 : 0) | payloadType & 0x7F, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
      + withUnsafeBytes(of: timestamp.bigEndian) { Array($0) } + withUnsafeBytes(of: source.bigEndian) { Array($0) }
      + payload
  }
}
