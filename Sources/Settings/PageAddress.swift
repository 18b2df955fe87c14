import Foundation

/// The address at which the service offers its live page, e.g. `127.0.0.1:8088` or `[::]:8088`.
public struct PageAddress: Hashable, Sendable, CustomStringConvertible {
  /// An IPv4 or IPv6 address in its usual spelling; a name can mean another host tomorrow.
  public let host: String
  /// 1 to 65535.
  public let port: UInt16

  /// Reads `IPV4:PORT` or `[IPV6]:PORT`.
  /// - Returns: `nil` for any other text, such as a name with a port.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard let port = UInt16(digits), port > 0, digits.allSatisfy(\.isNumber) else { return nil }
    var host = String(text[..<colon])
    var (four, six) = (in_addr(), in6_addr())
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard inet_pton(AF_INET6, host, &six) == 1 else { return nil }
    } else {
      guard inet_pton(AF_INET, host, &four) == 1 else { return nil }
    }
    (self.host, self.port) = (host, port)
  }

  /// As it is written in the configuration.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
