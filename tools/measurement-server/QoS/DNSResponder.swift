import CLibssl
import Foundation

/// A resolver for DNS tests: each name has the address 127.0.0.1, and names below `invalid` do not exist (RFC 6761, 6.4).
final class DNSResponder: @unchecked Sendable {
  private let descriptor: Int32
  let port: UInt16

  init(address: String, port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    self.port = try SocketAddress.bind(descriptor, to: address, port: port)
  }

  /// Serves until the process ends.
  func run() {
    var packet = [UInt8](repeating: 0, count: 512)
    while true {
      var peer = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &peer) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &packet, packet.count, 0, $0, &size)
        }
      }
      if count < 0, errno != EINTR { return }
      guard count > 0, let answer = Self.answer(to: Array(packet[..<count])) else { continue }
      _ = SocketAddress.call(peer) { sendto(descriptor, answer, answer.count, 0, $0, $1) }
    }
  }

  private static let isA: [UInt8] = [0, 1, 0, 1]

  /// The answer to a query with one question; `nil` for any other packet.
  static func answer(to query: [UInt8]) -> [UInt8]? {
    // 16 bits each: number, flags (no response, a standard query), one question, no other records.
    guard query.count > 12, query[2] & 0xF8 == 0, Array(query[4..<12]) == [0, 1, 0, 0, 0, 0, 0, 0],
      let (labels, end) = name(in: query), query.count >= end + 4
    else { return nil }
    let question = query[12..<end + 4]
    let isMissing = labels.last?.lowercased() == "invalid"
    // Only type A of class IN has a record here.
    let hasRecord = !isMissing && Array(query[end..<end + 4]) == isA
    let flags: [UInt8] = [0x80 | query[2] & 1, isMissing ? 0x83 : 0x80]
    let counts: [UInt8] = [0, 1, 0, hasRecord ? 1 : 0, 0, 0, 0, 0]
    var answer = Array(query[..<2])
    answer += flags
    answer += counts
    answer += question
    guard hasRecord else { return answer }
    // The name of the question by a pointer, A, IN, 60 s, four bytes.
    answer += [0xC0, 0x0C]
    answer += isA
    answer += [0, 0, 0, 60, 0, 4, 127, 0, 0, 1] as [UInt8]
    return answer
  }

  /// The labels of the question's name, and the index behind it.
  private static func name(in query: [UInt8]) -> (labels: [String], end: Int)? {
    var (labels, index) = ([String](), 12)
    while index < query.count, query[index] != 0 {
      let length = Int(query[index])
      guard length < 64, index + 1 + length < query.count else { return nil }
      labels.append(String(decoding: query[index + 1...index + length], as: UTF8.self))
      index += 1 + length
    }
    return index < query.count ? (labels, index + 1) : nil
  }
}
