import Coverage
import Service

/// The line that shows how far an export has come, on a terminal.
final class ExportProgress {
  private let isShown: Bool
  /// When the line may be drawn again.
  private var next = ContinuousClock.now

  /// - Parameter isShown: `false` when the result itself may go to the terminal.
  init(isShown: Bool) { self.isShown = isShown && LiveArea.isPossible }

  /// Shows that `fences` are written, four times a second at most.
  func show(_ fences: Int) {
    guard isShown, ContinuousClock.now >= next else { return }
    next = .now + .milliseconds(250)
    let line = "export: \(counted(fences, "fence"))"
    LiveArea.show { columns, _ in [LineWidth.cut(line, to: columns)] }
  }

  func end() { if isShown { LiveArea.end() } }
}
