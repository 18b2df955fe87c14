import ArgumentParser

/// A server of the command line: `HOST:PORT` or `[IPv6]:PORT`.
struct HostAndPort: Hashable, Sendable {
  let host: String
  let port: Int
}

extension HostAndPort: ExpressibleByArgument {
  init?(argument text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port)
    else { return nil }
    let name = text[..<colon]
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    let host = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
    // Without brackets, the last part of an IPv6 address would pass for a port.
    guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
    self.host = host
    self.port = port
  }
}
