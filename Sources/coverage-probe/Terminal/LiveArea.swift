import Foundation
import Service
import Synchronization

/// The last lines of a terminal, which show the present state and are overwritten each second. Other lines are written above
/// them.
///
/// Lines are made for the terminal's size, which is read each time, and drawn again when it changes. Every write holds one lock,
/// so that no line of the log comes between the removal of the area and its next drawing.
enum LiveArea {
  /// Makes the lines for a width and a height; `nil` when the terminal does not report them.
  typealias Rendering = @Sendable (_ columns: Int?, _ rows: Int?) -> [String]

  private struct State {
    var rendering: Rendering?
    /// The columns of each line that is on the terminal now.
    var drawn: [Int] = []
  }

  /// Whether standard error is a terminal that can overwrite lines.
  static let isPossible = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// Whether colours are wanted (https://no-color.org).
  static let isColoured = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

  private static let state = Mutex(State())

  /// Redraws the area. Call it only if ``isPossible``.
  static func show(_ rendering: @escaping Rendering) {
    state.withLock { state in
      state.rendering = rendering
      draw(after: "", &state)
    }
  }

  static func end() {
    guard isPossible else { return }
    state.withLock { state in
      state.rendering = nil
      draw(after: "", &state)
    }
  }

  /// Writes lines above the area.
  /// - Parameter text: With its last line end.
  static func write(above text: String) {
    state.withLock { state in draw(after: text, &state) }
  }

  /// Draws the area again each time the terminal's size changes, until the task is cancelled.
  static func follow(_ changes: AsyncStream<Void>) async {
    for await _ in changes where isPossible {
      state.withLock { state in if state.rendering != nil { draw(after: "", &state) } }
    }
  }

  /// Removes the area, writes `text`, and draws the area again, all in one write, so that it does not flicker. Called with the
  /// lock.
  private static func draw(after text: String, _ state: inout State) {
    let (columns, rows) = size
    let lines = state.rendering?(columns, rows) ?? []
    let clearing =
      state.drawn.isEmpty ? "" : LineWidth.clearing(rows: LineWidth.rows(of: state.drawn, columns: columns))
    // A failure cannot be reported anywhere.
    _ = DescriptorOutput.write(Array((clearing + text + lines.joined(separator: "\n")).utf8), to: STDERR_FILENO)
    state.drawn = lines.map(LineWidth.columns)
  }

  private static var size: (columns: Int?, rows: Int?) {
    var size = winsize()
    guard isPossible, ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (nil, nil) }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : nil)
  }
}
