/// A server of map tiles, by the address of a tile with `{z}`, `{x}` and `{y}` in the place of zoom, column and row.
public struct TileSource: Hashable, Sendable {
  /// The address, as the user wrote it.
  public let address: String
  /// Scheme and authority, such as `https://tiles.example`: the only origin from which the page may load images.
  public let origin: String

  /// `nil` for anything but an http or https address of printable ASCII with `{z}`, `{x}` and `{y}` behind the authority. The
  /// authority goes into the page's security policy, so it may have only letters, digits, `.`, `-`, `:`, and the brackets of
  /// IPv6: no user information, and nothing that could begin another directive.
  public init?(_ address: String) {
    guard let scheme = ["https://", "http://"].first(where: { address.hasPrefix($0) }) else { return nil }
    let rest = address.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let path = rest.dropFirst(authority.count)
    guard !authority.isEmpty, authority.utf8.allSatisfy(Self.isOfAuthority) else { return nil }
    guard ["{z}", "{x}", "{y}"].allSatisfy({ path.contains($0) }) else { return nil }
    guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    (self.address, origin) = (address, scheme + authority)
  }

  private static func isOfAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
    default: false
    }
  }
}
