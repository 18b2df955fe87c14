/// Fits a line into a terminal.
public enum LineWidth {
  /// The beginning of `line` that leaves the last column free: some terminals wrap as soon as that is written to.
  /// - Parameter columns: `nil`: as many as it takes.
  public static func cut(_ line: String, to columns: Int?) -> String {
    guard let columns, line.count >= columns else { return line }
    return columns < 2 ? "" : line.prefix(columns - 2) + "…"
  }
}
