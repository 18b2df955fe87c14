/// Cuts lines to the width of a terminal.
public enum LineWidth {
  /// The beginning of `line` that leaves the last column free: some terminals wrap when the last column is written.
  /// - Parameters:
  ///   - line: Without line breaks.
  ///   - columns: The width of the terminal; `nil`: do not cut.
  public static func cut(_ line: String, to columns: Int?) -> String {
    guard let columns, line.count >= columns else { return line }
    return columns < 2 ? "" : line.prefix(columns - 2) + "…"
  }
}
