import Coverage

/// The ping server has an address of an IP version that this network, or the configuration, does not have.
struct OtherFamilyError: Error, Hashable, CustomStringConvertible {
  /// The address.
  let address: PingAddress

  /// One line for the operator.
  var description: String {
    let why = NoWay.otherFamily(than: address.host)
    return address.family == .ipv6 ? why : "\(why), without NAT64 (no prefix for ipv4only.arpa)"
  }
}
