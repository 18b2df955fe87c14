import CLibssl
import Coverage
import Foundation
import Pinging

/// The addresses of a host, in the order in which connections try them. A test resolves its server once, for all its connections.
struct Addresses: Sendable {
  /// The address of a socket, as the kernel has it.
  struct Address: Hashable, Sendable {
    /// `AF_INET` or `AF_INET6`; it fits a new socket.
    let family: Int32
    /// The structure `sockaddr_in` or `sockaddr_in6`, byte by byte; the port in it is big-endian.
    let bytes: [UInt8]

    /// The same host with another port: the two bytes behind the family, for IPv4 and IPv6 alike.
    func with(port: UInt16) -> Address {
      guard bytes.count >= 4 else { return self }
      return Address(family: family, bytes: bytes[..<2] + [UInt8(port >> 8), UInt8(port & 0xFF)] + bytes[4...])
    }

    var port: UInt16 { bytes.count < 4 ? 0 : UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }

    /// The address in figures, without the port, with the zone of a link-local one; `nil` for other than IPv4 and IPv6.
    var host: String? {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = call { getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) }
      guard code == 0 else { return nil }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var isLoopback: Bool { host.map { $0 == "::1" || $0.hasPrefix("127.") } ?? false }

    /// A socket for this address that does not block; the caller closes it.
    /// - Parameter interface: Packets leave by it and come from it alone, whatever the routes say; `nil`: the routes decide.
    /// - Throws: ``SpeedTestError/unreachable(_:)``, also when there is no such interface, or the privilege is missing.
    func makeSocket(_ type: __socket_type, interface: String?) throws(SpeedTestError) -> Int32 {
      let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(family, Int32(type.rawValue) | flags, 0)
      guard descriptor >= 0 else { throw .unreachable(String(cString: strerror(errno))) }
      guard let interface else { return descriptor }
      let code = interface.withCString {
        setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(strlen($0)))
      }
      guard code == 0 else {
        let reason = String(cString: strerror(errno))
        close(descriptor)
        throw .unreachable("interface \(interface): \(reason)")
      }
      return descriptor
    }

    /// Whether the kernel knows a route, which is looked up without a packet.
    func hasRoute(by interface: String?) -> Bool {
      guard let descriptor = try? makeSocket(SOCK_DGRAM, interface: interface) else { return true }
      defer { close(descriptor) }
      let refusals = [ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL]
      return call { Glibc.connect(descriptor, $0, $1) } == 0 || !refusals.contains(errno)
    }

    /// Calls a function of sockets with the address, such as `bind` or `connect`.
    /// - Returns: The result of the function: -1 and `errno` after a failure.
    func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return -1 }
        return body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
      }
    }

    /// An address that the kernel fills in; `nil` when it fails.
    /// - Parameter body: `getsockname` or the like; 0 says that the address is filled in.
    static func filled(
      by body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Address? {
      var storage = sockaddr_storage()
      var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let code = withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
      }
      guard code == 0 else { return nil }
      let bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(Int(size))) }
      return Address(family: Int32(storage.ss_family), bytes: bytes)
    }
  }

  let list: [Address]

  init(_ list: [Address]) { self.list = list }

  /// The addresses by which connections reach a server: in a network that has IPv6 with NAT64 only, those that the network makes of IPv4 ones.
  /// Blocks for twice ``NameLookUp/limit`` at most.
  static func ofServer(
    _ host: String, port: UInt16, family: IPVersion?, interface: String?
  ) throws(SpeedTestError) -> Addresses {
    let known = try Addresses(host: host, port: port, family: family)
    guard known.list.allSatisfy({ $0.family == AF_INET && !$0.hasRoute(by: interface) }), let first = known.list.first,
      let host = first.host
    else { return known }
    // Without an answer of the name server, the connection fails by itself and says why.
    guard let made = try? PingAddress(numeric: host, port: port)?.byNAT64() else { return known }
    let carried = try Addresses(host: made.host, port: port, family: .ipv6)
    return carried.list.allSatisfy { $0.hasRoute(by: interface) } ? carried : known
  }

  /// Resolves a name, or reads an address. Blocks for ``NameLookUp/limit`` at most; an abort does not end it.
  /// - Parameter family: Addresses of other families are left out.
  init(host: String, port: UInt16, family: IPVersion?) throws(SpeedTestError) {
    do throws(NameError) {
      list = try NameLookUp.addresses(of: host, port: port, family: family) { entry in
        entry.ai_addr.map { address in
          Address(
            family: entry.ai_family,
            bytes: Array(UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))))
        }
      }
    } catch {
      throw .unresolved(error)
    }
  }
}
