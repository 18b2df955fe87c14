import Coverage
import Foundation
import Synchronization

/// Shows on standard error how far long work has come: on a terminal a line that is overwritten, elsewhere a line now and then. When something
/// was shown, a last line says that the work is over. Short work shows nothing.
final class WorkProgress: Sendable {
  private struct State {
    var pace: ProgressPace
    /// The totals by noun, each asked for once: a count of a large store takes a moment.
    var totals: [String: Int] = [:]
  }

  /// Shows nothing.
  static var none: WorkProgress { WorkProgress("", isShown: false) }

  private let work: String
  private let isShown: Bool
  private let began = ContinuousClock.now
  private let state: Mutex<State>

  /// - Parameters:
  ///   - work: What goes on, such as `export`.
  ///   - isShown: `false` when the result itself goes to the terminal.
  init(_ work: String, isShown: Bool = true) {
    (self.work, self.isShown) = (work, isShown)
    state = Mutex(State(pace: ProgressPace(isTerminal: LiveArea.isPossible)))
  }

  /// Shows that `done` are done, if a line is due.
  /// - Parameters:
  ///   - noun: One of them, such as `fence`; `byte` is shown in megabytes.
  ///   - total: How many there are; asked for once, when the first line is due. `nil`: unknown.
  func show(_ done: Int, of noun: String, total: () -> Int?) {
    guard isShown else { return }
    let line: String? = state.withLock { state in
      guard state.pace.isDue(at: .now - began) else { return nil }
      if state.totals[noun] == nil { state.totals[noun] = total() }
      return ProgressPace.line(work, done, of: noun, total: state.totals[noun])
    }
    guard let line else { return }
    if LiveArea.isPossible {
      LiveArea.show { columns, _ in [LineWidth.cut(line, to: columns)] }
    } else {
      Terminal.note(line)
    }
  }

  /// Says that the work is over, if a line was shown before.
  /// - Parameter result: What was done, such as `48000 fences`; `nil`: only that it is over.
  func end(_ result: String? = nil) {
    guard isShown, state.withLock({ $0.pace.hasShown }) else { return }
    clear()
    let seconds = (ContinuousClock.now - began).components.seconds
    Terminal.note("\(work): \(result.map { $0 + ", " } ?? "")done in \(seconds) s")
  }

  /// Removes the line from a terminal, as after an error.
  func clear() { if isShown, state.withLock({ $0.pace.hasShown }) { LiveArea.end() } }
}

/// When a line of progress is due, and its words. A pure value.
struct ProgressPace: Sendable {
  private let isTerminal: Bool
  private var due: Duration
  /// Whether a line was due before.
  private(set) var hasShown = false

  /// - Parameter isTerminal: Whether lines are overwritten: then at most 5 a second, else one in 10 s, the first one after that time.
  init(isTerminal: Bool) {
    self.isTerminal = isTerminal
    due = isTerminal ? .milliseconds(500) : .seconds(10)
  }

  /// Whether a line is due this long after the begin of the work; then the next one is due later.
  mutating func isDue(at elapsed: Duration) -> Bool {
    guard elapsed >= due else { return false }
    due = elapsed + (isTerminal ? .milliseconds(200) : .seconds(10))
    hasShown = true
    return true
  }

  /// E.g. `export: 12000 of 48000 fences (25 %)`. A total that was passed, as by a drive that goes on, is left out.
  static func line(_ work: String, _ done: Int, of noun: String, total: Int?) -> String {
    guard let total, total >= done, total > 0 else { return "\(work): \(amount(done, of: noun))" }
    let percent = Int(Double(done) / Double(total) * 100)
    let whole = amount(total, of: noun)
    let part = noun == "byte" ? String(amount(done, of: noun).dropLast(3)) : "\(done)"
    return "\(work): \(part) of \(whole) (\(percent) %)"
  }

  /// E.g. `1 fence`, `48000 fences`, `12.3 MB`.
  static func amount(_ count: Int, of noun: String) -> String {
    guard noun == "byte" else { return counted(count, noun) }
    let tenths = max(0, count) / 100_000
    return "\(tenths / 10).\(tenths % 10) MB"
  }
}
