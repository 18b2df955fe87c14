/// The targets of a file: one a line, `#` starts a comment.
struct PingTargetList: Hashable, Sendable {
  /// A line that is no target.
  struct Problem: Error, Hashable, CustomStringConvertible {
    let file: String
    /// From 1.
    let line: Int
    let reason: String

    /// For the operator, e.g. `targets.txt:3: the line is longer than 1000 bytes`.
    var description: String { "\(file):\(line): \(reason)" }
  }

  /// No name is as long; the resolver need not be asked.
  private static let longestLine = 1000

  /// Names and addresses, in the order of the lines.
  private(set) var names: [String] = []
  /// The lines that are no target, in order. They do not affect the other lines.
  private(set) var problems: [Problem] = []

  /// A list without targets.
  init() {}

  /// - Parameter file: The name of the file in ``problems``.
  init(_ text: String, file: String) {
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      if let reason = Self.problem(of: line) {
        problems.append(Problem(file: file, line: index + 1, reason: reason))
      } else {
        names += Self.words(of: line)
      }
    }
  }

  private static func problem(of line: Substring) -> String? {
    if line.utf8.count > longestLine { return "the line is longer than \(longestLine) bytes" }
    if line.utf8.contains(0) { return "the line contains a zero byte" }
    if words(of: line).count > 1 { return "the line has more than one target" }
    return nil
  }

  private static func words(of line: Substring) -> [String] {
    line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
