/// The address and port of a resolver.
///
/// Objectives of deployed servers name an address alone, and the port is 53. A lab may add a port: `192.0.2.1:5300`,
/// `[2001:db8::1]:5300`.
struct ResolverPlace: Hashable, Sendable {
  let host: String
  let port: UInt16

  /// - Parameter standard: The port of a text without one.
  init(_ text: String, standard: UInt16 = 53) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isBracketed = text.hasPrefix("[")
    // More colons without brackets are those of an IPv6 address.
    guard parts.count == 2 || isBracketed, let last = parts.last, let port = UInt16(last), port > 0 else {
      (host, self.port) = (Self.bare(text), standard)
      return
    }
    (host, self.port) = (Self.bare(text.dropLast(last.count + 1)), port)
  }

  /// The address without the brackets of IPv6.
  private static func bare(_ text: some StringProtocol) -> String {
    text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
  }
}
