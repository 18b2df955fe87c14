import Foundation
import OrderedJSON

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

/// A text of an answer, which is of use even if this member is something else.
struct TextOrOther: Decodable {
  /// `nil` for a value that is no text.
  let text: String?

  init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
}
