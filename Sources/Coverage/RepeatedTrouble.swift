/// A trouble that comes again and again: the log gets a line for each other reason, and one with the count at its end. A pure value.
public struct RepeatedTrouble: Hashable, Sendable {
  private var line: String?
  private var count = 0

  /// No trouble.
  public init() {}

  /// The trouble has come.
  /// - Parameter line: With its reason, in one line.
  /// - Returns: The line, unless it is that of the last time.
  public mutating func note(_ line: String) -> String? {
    count += 1
    defer { self.line = line }
    return self.line == line ? nil : line
  }

  /// The trouble is over.
  /// - Parameter words: What is possible again.
  /// - Returns: `nil` when there was none.
  public mutating func end(_ words: String) -> String? {
    defer { (line, count) = (nil, 0) }
    return count == 0 ? nil : "\(words) after \(counted(count, "failure"))"
  }
}
