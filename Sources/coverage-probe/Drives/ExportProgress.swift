import Coverage

/// The line that shows how far an export has come, on a terminal.
final class ExportProgress {
  private let isShown: Bool
  private var next = ContinuousClock.now

  /// - Parameter isShown: `false` when the result itself may go to the terminal.
  init(isShown: Bool) { self.isShown = isShown && LiveLine.isPossible }

  /// Shows that `fences` are written, four times a second at most.
  func show(_ fences: Int) {
    guard isShown, ContinuousClock.now >= next else { return }
    next = .now + .milliseconds(250)
    LiveLine.show("export: \(counted(fences, "fence"))")
  }

  func end() { if isShown { LiveLine.end() } }
}
