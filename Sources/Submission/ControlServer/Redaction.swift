import Foundation
import OrderedJSON

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

/// Texts for columns of the control server's database. A text that is too long, or has a NUL, is an SQL error there: the whole request is
/// lost (docs/protocol.md, 3.7).
enum ColumnText {
  /// Characters of columns that several members go to.
  static let (long, name, code) = (200, 100, 10)

  /// The text without NUL, cut to a number of characters, which PostgreSQL counts as code points.
  static func cut(_ text: String, to width: Int) -> String {
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: text.unicodeScalars.lazy.filter { $0.value != 0 }.prefix(width))
    return String(kept)
  }

  /// The server refuses an address with a zone (`fe80::1%wwan0`).
  static func address(_ text: String) -> JSON { .string(String(text.prefix { $0 != "%" })) }

  static func json(_ text: String, _ width: Int) -> JSON { .string(cut(text, to: width)) }
}

/// An integer that some servers send as text.
struct NumberOrText: Decodable {
  /// `nil` for a value that is neither an integer of 64 bits nor its text.
  let number: Int64?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    number = (try? value.decode(Int64.self)) ?? (try? value.decode(String.self)).flatMap { Int64($0) }
  }
}
