import Coverage
import Foundation

/// Decides which requests to the live page are answered (docs/live-page.md, Who may use it). A pure value.
struct PageGuard: Sendable {
  /// The headers of a request that decide about it.
  struct Asked: Hashable, Sendable {
    /// Whether it changes something: a POST.
    var isCommand = false
    var host: String?
    var origin: String?
    /// Whether the page's own header is there, which no form of another page can add.
    var isMarked = false
    /// The token of the page's cookie.
    var cookie: String?
    /// The token in the address. Commands ignore it.
    var link: String?
  }

  enum Verdict: Hashable, Sendable {
    case answer
    /// The link is right: the browser gets the token as a cookie.
    case admit(PageToken)
    /// Status 403, with the reason for the person at the browser.
    case refuse(String)
  }

  /// The names of this host, in lower case.
  let names: Set<String>

  init() {
    let host = Self.hostName.lowercased()
    self.init(names: ["localhost", host, host + ".local"])
  }

  static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  init(names: Set<String>) { self.names = names }

  /// Checks the host name, then the token, then, for a command, that the page itself sent it.
  /// - Parameter token: The token of this moment: another process can replace it. `nil`: every request is refused.
  func check(_ asked: Asked, by token: @autoclosure () -> PageToken?) -> Verdict {
    // Refuse foreign host names: DNS rebinding points an attacker's name to this address.
    guard let host = asked.host, isOwn(host) else {
      return .refuse("unknown host name in the address: open the link that `\(Program.name) page` prints")
    }
    guard let token = token() else {
      return .refuse("the service cannot read its token: `\(Program.name) page --renew` makes another one")
    }
    if !asked.isCommand, let link = asked.link {
      return token.matches(link)
        ? .admit(token) : .refuse("the link is an old one: `\(Program.name) page` prints the present one")
    }
    guard let cookie = asked.cookie, token.matches(cookie) else {
      return .refuse("open the link that `\(Program.name) page` prints")
    }
    guard asked.isCommand else { return .answer }
    guard asked.isMarked, asked.origin == "http://\(host)" else {
      return .refuse("the command did not come from this page: load the page again")
    }
    return .answer
  }

  /// Whether `host`, with or without a port, is one of ``names`` or a numeric address. Rebinding needs a name of the attacker, so
  /// any address is allowed.
  private func isOwn(_ host: String) -> Bool {
    var name = host.lowercased()
    if let colon = name.lastIndex(of: ":"), name[name.index(after: colon)...].allSatisfy(\.isNumber),
      !name.hasSuffix("]")
    {
      name = String(name[..<colon])
    }
    if names.contains(name) { return true }
    var (four, six) = (in_addr(), in6_addr())
    if name.hasPrefix("["), name.hasSuffix("]") {
      return inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &six) == 1
    }
    return inet_pton(AF_INET, name, &four) == 1
  }
}
