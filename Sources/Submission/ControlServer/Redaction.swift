import Foundation

/// Removes secrets from a server's text: the client UUID of this device, tokens that give access to a test server, and the user and
/// password of a URL. Servers echo requests, and their messages go to logs and into the store.
struct Redaction {
  private static let device = "(this device's)"
  /// A client UUID with fewer letters and digits is not redacted, because it would match parts of ordinary words.
  private static let leastLength = 8
  private static let tokens = [
    // {"ping_token":"..."}, token=...; JSON inside JSON has backslashes before slashes.
    ("(?i)(token\\\\?\"?\\s*[:=]\\s*\\\\?\"?)(?:\\\\+/|[^\\s\"\\\\,;&}])+", "$1(hidden)"),
    // A test's token: its UUID, a time, and a signature.
    ("(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_[0-9]+_[A-Za-z0-9+/=]+", "(hidden)"),
    // 16 bytes in Base64: a token for pings.
    ("(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+]|\\\\*/){22}==", "(hidden)"),
  ]

  private let clientUUID: String?

  /// - Parameter clientUUID: The client UUID in the request; `nil` when it had none.
  init(clientUUID: String?) { self.clientUUID = clientUUID }

  /// `text` without secrets.
  func apply(to text: String) -> String {
    var text = text
    if let pattern = clientPattern { text = text.replacing(pattern: pattern, with: Self.device) }
    for (pattern, replacement) in Self.tokens { text = text.replacing(pattern: pattern, with: replacement) }
    return text
  }

  /// The client UUID in upper or lower case, with dashes or underscores or without them.
  private var clientPattern: String? {
    let characters = (clientUUID ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.map(String.init)
    return characters.count >= Self.leastLength ? "(?i)" + characters.joined(separator: "[-_]?") : nil
  }

  /// `url` without `user:password@`.
  static func shown(_ url: String) -> String { url.replacing(pattern: "^([A-Za-z]+://)[^/?#]*@", with: "$1") }
}

extension String {
  fileprivate func replacing(pattern: String, with template: String) -> String {
    replacingOccurrences(of: pattern, with: template, options: .regularExpression)
  }
}
