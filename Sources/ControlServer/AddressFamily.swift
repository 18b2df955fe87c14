import Foundation
import NIOCore
import NIOPosix

/// A version of the internet protocol.
public enum AddressFamily: Int, Hashable, Sendable, CustomStringConvertible {
  case ipv4 = 4
  case ipv6 = 6

  public var description: String { "IPv\(rawValue)" }

  fileprivate var domain: CInt { self == .ipv4 ? AF_INET : AF_INET6 }
}

/// Looks names up by one family only, for one connection.
final class FamilyResolver: Resolver, Sendable {
  private let family: AddressFamily
  private let loop: any EventLoop

  init(_ family: AddressFamily, on loop: any EventLoop) {
    (self.family, self.loop) = (family, loop)
  }

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses(.ipv4, host, port) }
  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses(.ipv6, host, port) }
  func cancelQueries() {}

  /// The system's resolver can take seconds: it is asked on a thread of its own.
  private func addresses(_ asked: AddressFamily, _ host: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
    guard asked == family else { return loop.makeSucceededFuture([]) }
    let promise = loop.makePromise(of: [SocketAddress].self)
    DispatchQueue.global().async { [family] in promise.succeed(Self.lookUp(host, port, family)) }
    return promise.futureResult
  }

  /// In the system's order of preference; none where the name has none, or cannot be resolved.
  private static func lookUp(_ host: String, _ port: Int, _ family: AddressFamily) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_family = family.domain
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

/// The control server has no address of the family that its request must go by.
struct FamilyError: Error, CustomStringConvertible {
  let host: String
  let family: AddressFamily

  var description: String { "\(host) has no \(family) address, and pings.ip-version is \(family.rawValue)" }
}
