import Foundation
import Yams

/// Reads a configuration file as YAML, before any key is looked at. Errors repeat no value of it, which can be a place or a
/// password.
enum ConfigurationText {
  /// In bytes. The longest sane configuration has a few thousand.
  private static let limit = 1 << 20

  /// Aliases (`*name`) stand for far more values than the text has: ten lines of them can stand for more than memory holds.
  struct TooManyValues: Error {}

  /// - Returns: The file's root; `nil` for a file without keys.
  static func root(of file: String) throws(ConfigurationError) -> Node? {
    let data: Data
    do {
      data = try InputFile.contents(file, limit: limit)
    } catch {
      let isTilde = file.hasPrefix("~")
      let advice = isTilde ? "; the shell leaves ~ alone there, write the whole path" : ""
      throw .unreadable(file: file, reason: error.reason + advice)
    }
    let text = try text(data, file)
    do {
      return try compose(text)
    } catch is TooManyValues {
      throw .unreadable(file: file, reason: "its aliases (*name) stand for thousands of values: write them out")
    } catch {
      throw .malformed(file: file, reason: reason(error, in: text))
    }
  }

  /// - Throws: ``TooManyValues``, Yams's `YamlError`
  static func compose(_ text: String) throws -> Node? {
    let root = try Yams.compose(yaml: text)
    // Without aliases, no text has more values than bytes.
    var left = max(10_000, text.utf8.count)
    guard root.map({ count($0, &left) }) ?? true else { throw TooManyValues() }
    return root
  }

  /// Takes the values of a node from `left`.
  /// - Returns: Whether there were as many.
  private static func count(_ node: Node, _ left: inout Int) -> Bool {
    left -= 1
    guard left >= 0 else { return false }
    switch node {
    case .mapping(let mapping): return mapping.allSatisfy { count($0.key, &left) && count($0.value, &left) }
    case .sequence(let sequence): return sequence.allSatisfy { count($0, &left) }
    case .scalar, .alias: return true
    }
  }

  /// - Throws: ``ConfigurationError/unreadable(file:reason:)`` for a byte order mark, and for bytes that are not UTF-8.
  private static func text(_ data: Data, _ file: String) throws(ConfigurationError) -> String {
    let marks: [([UInt8], String)] = [
      ([0xEF, 0xBB, 0xBF], "it begins with a byte order mark (BOM): save it as UTF-8 without one"),
      ([0xFF, 0xFE], "it is UTF-16, by its byte order mark (BOM): save it as UTF-8"),
      ([0xFE, 0xFF], "it is UTF-16, by its byte order mark (BOM): save it as UTF-8"),
    ]
    for (mark, reason) in marks where data.starts(with: mark) { throw .unreadable(file: file, reason: reason) }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw .unreadable(file: file, reason: "it is not UTF-8")
    }
    return text
  }

  /// The place and the cause in one line, without the values of the file.
  private static func reason(_ error: any Error, in text: String) -> String {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    // An indentation with a tab is looked for first: YAML's own message can name another place or cause.
    let tab = lines.firstIndex {
      $0.prefix { $0 == " " || $0 == "\t" }.contains("\t") && $0.contains { !$0.isWhitespace }
    }
    if let tab { return "line \(tab + 1) is indented by a tab, and YAML by spaces only" }
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      return "line \(mark.line), column \(mark.column): \(problem)"
    case .reader(let problem, _, _, _): return problem
    case .duplicatedKeysInMapping(let keys, _):
      // Keys of settings have letters and hyphens only; another key can be a coordinate.
      let isName = keys.allSatisfy { $0.allSatisfy { $0.isLetter || $0 == "-" } }
      return "\(isName ? keys.joined(separator: ", ") : "a key") is there twice"
    default: return "it cannot be read"
    }
  }
}
