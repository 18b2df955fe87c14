import CLibssl
import Foundation

/// The addresses of the measurement server, resolved once for all connections of a test.
struct Addresses: Sendable {
  struct Address: Sendable {
    let family: Int32
    let bytes: [UInt8]
  }

  let list: [Address]

  init(_ list: [Address]) { self.list = list }

  /// - Throws: ``SpeedTestError/unresolved(_:)``
  init(host: String, port: UInt16, family: SpeedTestPlan.Family) throws(SpeedTestError) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_family =
      switch family {
      case .any: AF_UNSPEC
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      }
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { throw .unresolved(host) }
    defer { freeaddrinfo(first) }
    var list: [Address] = []
    var next = first
    while let entry = next?.pointee {
      if let address = entry.ai_addr {
        list.append(
          Address(
            family: entry.ai_family,
            bytes: Array(UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))))
      }
      next = entry.ai_next
    }
    guard !list.isEmpty else { throw .unresolved(host) }
    self.list = list
  }
}
