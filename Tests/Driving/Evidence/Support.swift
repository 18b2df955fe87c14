import Coverage
import Foundation

@testable import Driving

/// Bytes from hex digits; text after `|` on a line is a comment.
func hex(_ text: String) -> [UInt8] {
  let digits = text.split(separator: "\n").flatMap { $0.prefix { $0 != "|" }.filter { !$0.isWhitespace } }
  return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

/// Packets as on the wire, without a link header.
enum Wire {
  static let us: [UInt8] = [10, 0, 0, 1]
  static let server: [UInt8] = [10, 0, 0, 2]

  static func ip(_ number: UInt8, from: [UInt8], to: [UInt8], _ payload: [UInt8]) -> [UInt8] {
    let total = UInt16(20 + payload.count)
    return [0x45, 0, UInt8(total >> 8), UInt8(total & 0xFF), 0, 0, 0, 0, 64, number, 0, 0] + from + to + payload
  }

  static func udp(_ from: UInt16, _ to: UInt16, _ payload: [UInt8]) -> [UInt8] {
    big(from) + big(to) + big(UInt16(8 + payload.count)) + [0, 0] + payload
  }

  static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
  static func big(_ value: UInt32) -> [UInt8] { big(UInt16(value >> 16)) + big(UInt16(value & 0xFFFF)) }

  static func request(_ sequence: UInt32) -> [UInt8] {
    ip(17, from: us, to: server, udp(4000, 444, Array("RP01".utf8) + big(sequence) + [UInt8](repeating: 7, count: 16)))
  }

  static func reply(_ sequence: UInt32, _ magic: String = "RR01") -> [UInt8] {
    ip(17, from: server, to: us, udp(444, 4000, Array(magic.utf8) + big(sequence)))
  }

  static func echo(_ type: UInt8, sequence: UInt16, token: UInt8) -> [UInt8] {
    var message = [type, 0, 0, 0] + big(UInt16(77)) + big(sequence) + [UInt8](repeating: token, count: 12)
    var sum = stride(from: 0, to: message.count, by: 2).reduce(0) { $0 + Int(message[$1]) << 8 + Int(message[$1 + 1]) }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    message.replaceSubrange(2..<4, with: big(~UInt16(sum)))
    return type == 8 ? ip(1, from: us, to: server, message) : ip(1, from: server, to: us, message)
  }

  /// "Port unreachable" by a router, with the least that a router quotes.
  static func error(about packet: [UInt8], quoted: Int = 28 + 24) -> [UInt8] {
    ip(1, from: [10, 0, 0, 9], to: us, [3, 3, 0, 0, 0, 0, 0, 0] + packet.prefix(quoted))
  }
}

func captured(_ microseconds: Int64, _ bytes: [UInt8]) -> CapturedPacket {
  CapturedPacket(stamp: microseconds * 1000, linkType: 101, bytes: Bytes(bytes))
}
