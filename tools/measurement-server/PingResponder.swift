import CLibssl
import Foundation

/// Answers RTR's UDP pings (docs/protocol.md, 1.3): RR01 to a token of the sender's address, RE01 to one of another
/// address, nothing to anything else.
final class PingResponder: @unchecked Sendable {
  private let descriptor: Int32
  private let secret: String
  let port: UInt16

  init(address: String, port: UInt16, secret: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    self.secret = secret
    self.port = try SocketAddress.bind(descriptor, to: address, port: port)
  }

  func run() {
    var packet = [UInt8](repeating: 0, count: 64)
    while true {
      var peer = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &peer) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &packet, packet.count, 0, $0, &size)
        }
      }
      if count < 0, errno != EINTR { return }
      guard count == 24, let answer = answer(to: Array(packet[..<24]), from: peer) else { continue }
      withUnsafeMutablePointer(to: &peer) { pointer in
        _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, answer, answer.count, 0, $0, size)
        }
      }
    }
  }

  private func answer(to packet: [UInt8], from peer: sockaddr_in) -> [UInt8]? {
    guard packet.starts(with: Array("RP01".utf8)) else { return nil }
    let token = Data(packet[8...])
    switch TokenCheck.ping(token, secret: secret, peer: SocketAddress.mapped(peer), now: Int64(time(nil))) {
    case .good: return Array("RR01".utf8) + packet[4..<8]
    case .otherAddress: return Array("RE01".utf8) + packet[4..<8]
    case .bad: return nil
    }
  }
}
