import SpeedTest
import Synchronization

/// Reports the news of a loop to an operator.
enum LoopDisplay {
  /// One line for the process, because it has one terminal and runs one test at a time.
  private static let display = Mutex(SpeedTestDisplay())

  /// - Parameters:
  ///   - count: The tests of the loop.
  ///   - show: Shows the live line; `nil` without a terminal.
  ///   - print: Prints a line of the result.
  static func report(
    _ news: LoopNews, of count: Int, show: (@Sendable (String) -> Void)?, print: @Sendable (String) -> Void
  ) {
    switch news {
    case .testBegan(let number):
      display.withLock { $0 = SpeedTestDisplay() }
      show?("test \(number) of \(count)")
    case .progress(let number, let progress):
      guard let show else { return }
      let line = display.withLock {
        _ = $0.apply(progress)
        return $0.line
      }
      show("test \(number) of \(count)  \(line)")
    case .testEnded(let number, let end):
      show?("")
      print("test \(number) of \(count): \(end.line)")
    // The log has it, which is on the terminal too.
    case .notice: break
    case .ended(let end): print("the loop is over: \(end.words)")
    }
  }
}
