import CPinger
import Coverage
import Foundation
import Glibc

/// The numeric address and port of a ping target.
public struct PingAddress: Hashable, Sendable, CustomStringConvertible {
  // The text is computed on demand: in a flood, each event has an address.
  let raw: cping_address

  /// The address without the port, e.g. `192.0.2.1` or `fe80::1%eth0`.
  public var host: String {
    var text = [CChar](repeating: 0, count: 64)
    return withUnsafePointer(to: raw) { String(cString: cping_address_format($0, &text, text.count)) }
  }

  /// The UDP port; 0 for ICMP.
  public var port: UInt16 { raw.port }

  /// The version of the internet protocol.
  public var family: IPVersion { raw.family == 6 ? .ipv6 : .ipv4 }

  /// The address, with its port if that is not 0.
  public var description: String {
    guard port != 0 else { return host }
    return family == .ipv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// The address in `host`; `nil` for text that is not a numeric address.
  public init?(numeric host: String, port: UInt16) {
    var raw = cping_address()
    // C would read the text up to a zero byte, and pings would go to another host than the text names.
    guard !host.utf8.contains(0), cping_address_parse(&raw, host, port) == 0 else { return nil }
    self.init(raw)
  }

  /// No host, only a port: the address of a target whose name is not resolved yet. A pinger refuses it.
  public static func unresolved(port: UInt16) -> PingAddress {
    var raw = cping_address()
    raw.port = port
    return PingAddress(raw)
  }

  init(_ raw: cping_address) {
    self.raw = raw
  }

  /// Whether the address belongs to one link, as link-local addresses do.
  public var hasScope: Bool { raw.scope_id != 0 }

  /// Whether both are the same IP version, host and port.
  public static func == (left: PingAddress, right: PingAddress) -> Bool {
    left.raw.family == right.raw.family && left.raw.port == right.raw.port && left.raw.scope_id == right.raw.scope_id
      && withUnsafeBytes(of: left.raw.bytes) { left in
        withUnsafeBytes(of: right.raw.bytes) { left.elementsEqual($0) }
      }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(port)
    withUnsafeBytes(of: raw.bytes) { hasher.combine(bytes: $0) }
  }

  /// Resolves a name to its addresses, in the system's order of preference. A numeric address resolves to itself.
  /// - Parameter family: Only addresses of this family; `nil`: of both.
  public static func resolve(_ name: String, port: UInt16, family: IPVersion? = nil) async throws(NameError)
    -> [PingAddress]
  {
    try await NameLookUp.onThread { () throws(NameError) in try lookUp(name, port, family) }
  }

  static func lookUp(_ name: String, _ port: UInt16, _ family: IPVersion?) throws(NameError) -> [PingAddress] {
    try NameLookUp.addresses(of: name, family: family) { entry in
      numeric(entry).flatMap { PingAddress(numeric: $0, port: port) }
    }
  }

  private static func numeric(_ entry: addrinfo) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    return text.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) }
  }
}
