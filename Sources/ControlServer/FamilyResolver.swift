import Foundation
import NIOCore
import NIOPosix

/// Resolves names to addresses of one family only. Each instance serves one connection.
final class FamilyResolver: Resolver, Sendable {
  private let family: AddressFamily
  private let loop: any EventLoop

  init(_ family: AddressFamily, on loop: any EventLoop) {
    (self.family, self.loop) = (family, loop)
  }

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses(.ipv4, host, port) }
  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses(.ipv6, host, port) }
  func cancelQueries() {}

  /// The system's resolver blocks, for seconds at times, so it runs on a global queue.
  private func addresses(_ requested: AddressFamily, _ host: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
    guard requested == family else { return loop.makeSucceededFuture([]) }
    let promise = loop.makePromise(of: [SocketAddress].self)
    DispatchQueue.global().async { [family] in promise.succeed(Self.lookUp(host, port, family)) }
    return promise.futureResult
  }

  /// The addresses in the system's order of preference; empty when the name has none or cannot be resolved.
  private static func lookUp(_ host: String, _ port: Int, _ family: AddressFamily) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_family = family == .ipv4 ? AF_INET : AF_INET6
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
      guard let address = entry?.pointee.ai_addr else { return nil }
      switch family {
      case .ipv4:
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
      case .ipv6:
        return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: host) }
      }
    }
  }
}
