/// A host with a port, as operators and servers write them: `host.example:443`, `192.0.2.1:443`, `[2001:db8::1]:443`.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
  /// A name or an address, without brackets.
  public let host: String
  /// 1 to 65535.
  public let port: UInt16

  public init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

  /// `nil` for any other text.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let (name, digits) = (text[..<colon], text[text.index(after: colon)...])
    guard let port = UInt16(digits), port > 0, digits.allSatisfy(\.isNumber) else { return nil }
    if name.hasPrefix("["), name.hasSuffix("]"), name.contains(":") {
      host = String(name.dropFirst().dropLast())
    } else {
      guard !name.isEmpty, !name.contains(where: { $0 == ":" || $0 == "[" || $0.isWhitespace }) else { return nil }
      host = String(name)
    }
    self.port = port
  }

  /// As it was written.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
