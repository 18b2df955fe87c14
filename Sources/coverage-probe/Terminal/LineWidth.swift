import Coverage

/// The columns and rows that lines take on a terminal.
enum LineWidth {
  /// The beginning of `line` that leaves the last column free: some terminals wrap when the last column is written.
  /// - Parameters:
  ///   - line: Without line breaks.
  ///   - columns: The width of the terminal; `nil`: do not cut.
  static func cut(_ line: String, to columns: Int?) -> String {
    columns.map { shortened(line, to: $0 - 1) } ?? line
  }

  /// The text in at most `columns`; one that is longer ends with `…`.
  static func shortened(_ text: String, to columns: Int) -> String {
    guard TerminalColumns.count(text) > columns else { return text }
    return columns < 1 ? "" : TerminalColumns.prefix(text, columns - 1) + "…"
  }

  /// The columns of a line, without the sequences that colour it.
  static func columns(_ line: String) -> Int {
    TerminalColumns.count(line.replacing(/\u{1B}\[[0-9;]*m/, with: ""))
  }

  /// The rows that lines of these columns take: a terminal that became narrower has wrapped them.
  /// - Parameter columns: The width of the terminal; `nil`: unknown.
  static func rows(of lines: [Int], columns: Int?) -> Int {
    guard let columns, columns > 0 else { return lines.count }
    return lines.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
  }

  /// Removes the last `rows` rows, of which the cursor is in the lowest one, and leaves the cursor at the begin of the first.
  static func clearing(rows: Int) -> String {
    "\r" + (rows > 1 ? "\u{1B}[\(rows - 1)A" : "") + "\u{1B}[J"
  }
}
