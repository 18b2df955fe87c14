/// A measurement server as a user writes it: `HOST:PORT`, `192.0.2.1:443`, `[2001:db8::1]:443`.
struct ServerPlace: Hashable, Sendable {
  /// A name or an address, without brackets.
  let host: String
  /// The TCP port.
  let port: UInt16

  /// `nil` for any other text.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    let name = text[..<colon]
    if name.hasPrefix("["), name.hasSuffix("]"), name.count > 2 {
      host = String(name.dropFirst().dropLast())
    } else {
      guard !name.isEmpty, !name.contains(":"), !name.contains("["), !name.contains(where: \.isWhitespace) else {
        return nil
      }
      host = String(name)
    }
    self.port = port
  }

  /// As it was written.
  var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
