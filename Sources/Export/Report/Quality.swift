import Coverage

/// How good the data of the selected fences are: the section *Quality of the data* of a report, with ``LogFigures``.
public struct Quality: Sendable {
  /// Accuracies of the positions that opened the fences (68 % radius), a millimetre counted as a microsecond.
  private(set) var accuracies = DelayCounts()
  /// The number of pauses between two selected fences of a session that follow each other. Fences between them that are not
  /// selected are no pause.
  public private(set) var gaps = 0
  /// Their time together, in microseconds.
  private(set) var gapMicroseconds: Int64 = 0
  /// The longest, in microseconds.
  public private(set) var longestGap: Int64 = 0
  private var last: ReportedFence?

  mutating func add(_ fence: ReportedFence) {
    // Millionths of a metre stand for nanoseconds (``accuracies``).
    if let accuracy = fence.fence.fix.accuracy, let millionths = Int64(exactly: (accuracy * 1_000_000).rounded()) {
      accuracies.add(nanoseconds: millionths)
    }
    defer { last = fence }
    guard let last, last.session == fence.session, last.fence.number.saturatingAdding(1) == fence.fence.number
    else { return }
    let gap = (fence.fence.entered - last.exited).inMicroseconds
    guard gap > 0 else { return }
    gaps += 1
    gapMicroseconds = gapMicroseconds.saturatingAdding(gap)
    longestGap = max(longestGap, gap)
  }
}
