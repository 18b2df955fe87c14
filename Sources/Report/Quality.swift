import Coverage

/// How good the data are.
public struct Quality: Sendable {
  /// Accuracies of the fences' positions, a millimetre counted as a microsecond.
  public private(set) var accuracies = DelayCounts()
  /// Pauses between fences of a session.
  public private(set) var gaps = 0
  /// Their time together, in microseconds.
  public private(set) var gapMicroseconds: Int64 = 0
  /// The longest, in microseconds.
  public private(set) var longestGap: Int64 = 0
  private var last: ReportedFence?

  mutating func add(_ fence: ReportedFence) {
    if let accuracy = fence.fence.fix.accuracy, let millionths = Int64(exactly: (accuracy * 1_000_000).rounded()) {
      accuracies.add(nanoseconds: millionths)
    }
    defer { last = fence }
    guard let last, last.session == fence.session else { return }
    let gap = (fence.fence.entered - last.exited).inMicroseconds
    guard gap > 0 else { return }
    gaps += 1
    gapMicroseconds = gapMicroseconds.saturatingAdding(gap)
    longestGap = max(longestGap, gap)
  }
}
