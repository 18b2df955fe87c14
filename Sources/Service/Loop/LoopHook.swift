import Coverage
import Logging
import SpeedTest
import SystemServices

/// The operator's program that runs when a speed test is due and cannot start (docs/loop.md).
struct LoopHook: Sendable {
  /// The lines of its output that the log has; of the others, their number.
  static let lines = 10

  /// The program; the setting `loop.hook`.
  let path: String
  let logger: Logger

  /// Starts the program and does not wait for it. Its argument is the reason, its environment has the line of the notice.
  func call(_ notice: LoopNotice) {
    // Not a part of the loop's task: the loop's end does not cancel the program.
    Task { await run(notice) }
  }

  /// Runs the program until it ends, and logs what it prints and when it fails.
  func run(_ notice: LoopNotice) async {
    let program = OperatorProgram(
      path: path, arguments: [notice.hold.rawValue],
      environment: ["COVERAGE_PROBE_NOTICE": "\(notice)", "COVERAGE_PROBE_TEST": "\(notice.number)"], withErrors: true)
    var (logged, others) = (0, 0)
    func log(_ lines: [String], _ dropped: Int) {
      others += dropped
      for line in lines {
        guard logged < Self.lines else {
          if others == 0 { logger.notice("loop.hook \(path) prints much: only a count of lines follows") }
          others += 1
          continue
        }
        logged += 1
        logger.info("loop.hook: \(ForeignText.clean(line))")
      }
    }
    do {
      let status = try await program.run(log)
      if others > 0 { logger.notice("loop.hook \(path) printed \(others) more lines") }
      switch status {
      case .exited(0): return
      case .exited(let status): logger.warning("loop.hook \(path) ended with status \(status)")
      case .signaled(let signal): logger.warning("loop.hook \(path) was ended by signal \(signal)")
      }
    } catch {
      logger.warning("loop.hook \(path) cannot be started: \(error)")
    }
  }
}
