import Agent
import Foundation
import Synchronization

/// The line at the bottom of a terminal that shows how things stand, and is written over each second.
///
/// It is cut to the terminal's width, which is asked for each time, and drawn again when that changes: a line that wraps would be
/// written over in part only.
enum LiveLine {
  /// Whether there is a terminal that can write over a line.
  static let isPossible = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// What other lines have to begin with, so that they take the place of this one.
  static let clearing = isPossible ? "\r\u{1B}[K" : ""

  private static let current = Mutex("")

  static func show(_ line: String) {
    current.withLock { $0 = line }
    draw()
  }

  /// Takes the line away.
  static func end() { if isPossible { show("") } }

  /// Draws the line again each time that the terminal's size changes, until the task is cancelled.
  static func follow(_ changes: AsyncStream<Void>) async {
    for await _ in changes where isPossible && !current.withLock({ $0.isEmpty }) { draw() }
  }

  private static func draw() {
    let line = LineWidth.cut(current.withLock { $0 }, to: columns)
    _ = Terminal.write(clearing + line, to: STDERR_FILENO)
  }

  /// `nil` where the terminal does not say.
  private static var columns: Int? {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
