import Foundation

/// Takes out of a server's text what is for nobody to read: the name of this device, tokens that give access to a test server, and
/// the user and password of a URL. Servers echo what they were sent; what they say ends in logs and in the store.
struct Discretion {
  private static let device = "(this device's)"
  /// Of a name with fewer letters and digits than this, every second word would be a part.
  private static let leastLength = 8
  private static let tokens = [
    // {"ping_token":"..."}, token=...
    ("(?i)(token\\\\?\"?\\s*[:=]\\s*\\\\?\"?)[^\\s\"\\\\,;&}]+", "$1(hidden)"),
    // A test's token: its UUID, a time, and a signature.
    ("(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_[0-9]+_[A-Za-z0-9+/=]+", "(hidden)"),
    // 16 bytes in Base64: a token for pings.
    ("(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+]|\\\\?/){22}==", "(hidden)"),
  ]

  private let clientUUID: String?

  /// - Parameter clientUUID: What the request named this device by; `nil` when it named nobody.
  init(clientUUID: String?) { self.clientUUID = clientUUID }

  /// `text` without all that.
  func apply(to text: String) -> String {
    var text = text
    if let pattern = clientPattern { text = text.replacing(pattern: pattern, with: Self.device) }
    for (pattern, replacement) in Self.tokens { text = text.replacing(pattern: pattern, with: replacement) }
    return text
  }

  /// In any case, with its dashes, without them, or with others.
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
