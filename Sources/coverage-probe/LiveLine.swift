import Agent
import Foundation
import Synchronization

/// The last line of a terminal, which shows the present state and is overwritten each second.
///
/// It is cut to the terminal's width, read for each line, and drawn again when the width changes: a wrapped line
/// would be overwritten only in part.
enum LiveLine {
  /// Whether standard error is a terminal that can overwrite a line.
  static let isPossible = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// The beginning of other lines, which removes the live line.
  static let clearing = isPossible ? "\r\u{1B}[K" : ""

  private static let current = Mutex("")

  static func show(_ line: String) {
    current.withLock { $0 = line }
    draw()
  }

  /// Removes the line.
  static func end() { if isPossible { show("") } }

  /// Draws the line again each time the terminal's size changes, until the task is cancelled.
  static func follow(_ changes: AsyncStream<Void>) async {
    for await _ in changes where isPossible && !current.withLock({ $0.isEmpty }) { draw() }
  }

  private static func draw() {
    let line = LineWidth.cut(current.withLock { $0 }, to: columns)
    _ = DescriptorOutput.write(Array((clearing + line).utf8), to: STDERR_FILENO)
  }

  /// The width of the terminal; `nil` when it is unknown.
  private static var columns: Int? {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
