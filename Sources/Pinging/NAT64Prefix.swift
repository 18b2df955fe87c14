import CPinger
import Coverage

/// The IPv6 prefix under which a network with NAT64 carries IPv4 addresses. A pure value.
struct NAT64Prefix: Hashable, Sendable {
  private let bytes: [UInt8]
  /// In bits: 32, 40, 48, 56, 64 or 96.
  private let length: Int

  /// The name with these IPv4 addresses and no others (RFC 7050, 2.2): an IPv6 address of it is synthesized.
  static let knownName = "ipv4only.arpa"
  private static let knownAddresses: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]

  /// The positions of the four bytes of an IPv4 address behind a prefix (RFC 6052, 2.2). Byte 8 is zero for all but the longest prefix.
  private static let places: [(length: Int, indices: [Int])] = [
    (96, [12, 13, 14, 15]), (64, [9, 10, 11, 12]), (56, [7, 9, 10, 11]), (48, [6, 7, 9, 10]), (40, [5, 6, 7, 9]),
    (32, [4, 5, 6, 7]),
  ]

  /// Finds the prefix in an IPv6 address of ``knownName`` (RFC 7050, 3); `nil` when the address is not a synthesized one.
  init?(synthesized address: PingAddress) {
    guard address.family == .ipv6 else { return nil }
    let all = withUnsafeBytes(of: address.raw.bytes, Array.init)
    let place = Self.places.first { place in
      Self.knownAddresses.contains(place.indices.map { all[$0] }) && (place.length == 96 || all[8] == 0)
    }
    guard let place else { return nil }
    (bytes, length) = (all, place.length)
  }

  /// The address by which this network carries packets to `address`, an IPv4 address (RFC 6052, 2.3); `nil` for another one.
  func synthesize(_ address: PingAddress) -> PingAddress? {
    guard address.family == .ipv4, let place = Self.places.first(where: { $0.length == length }) else { return nil }
    let four = withUnsafeBytes(of: address.raw.bytes) { Array($0.prefix(4)) }
    var raw = cping_address()
    (raw.family, raw.port) = (6, address.port)
    withUnsafeMutableBytes(of: &raw.bytes) { target in
      for index in 0..<(length / 8) { target[index] = bytes[index] }
      for (index, byte) in zip(place.indices, four) { target[index] = byte }
    }
    return PingAddress(raw)
  }

  /// Asks the network's name server for its prefix (RFC 7050, 3).
  /// - Returns: `nil` when the network has no NAT64.
  /// - Throws: ``NameError`` when no name server answers, so that nothing is known.
  fileprivate static func ask() throws(NameError) -> NAT64Prefix? {
    do {
      return try PingAddress.lookUp(knownName, 0, .ipv6).lazy.compactMap(NAT64Prefix.init(synthesized:)).first
    } catch {
      if error.isTemporary { throw error }
      return nil
    }
  }
}

extension PingAddress {
  /// The address by which this network carries packets to this IPv4 address; `nil` for another one, and when the network has no NAT64. Asks a
  /// name server: blocks for ``NameLookUp/limit`` at most.
  /// - Throws: ``NameError`` when no name server answers.
  public func byNAT64() throws(NameError) -> PingAddress? {
    family == .ipv4 ? try NAT64Prefix.ask()?.synthesize(self) : nil
  }

  /// The address to which the ping server of a test is pinged. In a network with IPv6 and NAT64 only, it is made from an IPv4 address.
  /// - Parameters:
  ///   - family: The IP version of a name's address; `nil`: either.
  ///   - preferred: That of the address of a name with both; `nil`: the system's order decides.
  ///   - isUnreachable: Whether the network has no route to a numeric address, but has one for the other IP version.
  /// - Throws: ``NameError``, and an error with one line for the operator when the network cannot carry packets to it.
  public static func ofServer(
    _ host: String, port: UInt16, family: IPVersion?, preferring preferred: IPVersion? = nil,
    isUnreachable: (String) -> Bool
  ) async throws -> PingAddress {
    // A numeric address has its own version, whatever was asked for.
    let isNumeric = PingAddress(numeric: host, port: port) != nil
    let found = try await resolve(host, port: port, family: isNumeric ? nil : family)
    let address = best(of: found, preferring: preferred, isUnreachable: isUnreachable) ?? found[0]
    guard isUnreachable(address.host) else { return address }
    var trouble: NameError?
    do {
      let made = try await NameLookUp.onThread { () throws(NameError) in try address.byNAT64() }
      if let made, !isUnreachable(made.host) { return made }
    } catch {
      trouble = error
    }
    throw OtherFamilyError(address: address, trouble: trouble)
  }

  /// The first address in the system's order that the network has a route to, one of the preferred IP version before others: the system
  /// knows the host's routes, and not those of the interface that the pings leave by.
  static func best(
    of found: [PingAddress], preferring preferred: IPVersion?, isUnreachable: (String) -> Bool
  ) -> PingAddress? {
    let reachable = found.filter { !isUnreachable($0.host) }
    return reachable.first { $0.family == preferred } ?? reachable.first
  }
}

/// The ping server has an address of an IP version that this network, or the configuration, does not have.
public struct OtherFamilyError: Error, Hashable, CustomStringConvertible {
  let address: PingAddress
  /// Why nothing is known of NAT64; `nil` when the network's name server answered.
  var trouble: NameError?
  /// Whether the network's name server says that it has no NAT64.
  public var isCertain: Bool { trouble == nil }

  /// One line for the operator.
  public var description: String {
    let why = NoWay.otherFamily(than: address.host)
    if let trouble { return "\(why); whether it has NAT64 is not known: \(trouble)" }
    return address.family == .ipv6 ? why : "\(why), without NAT64 (no prefix for ipv4only.arpa)"
  }
}
