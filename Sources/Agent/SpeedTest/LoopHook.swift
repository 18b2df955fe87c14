import Logging
import Looping
import Subprocess
import SystemPackage

/// The operator's program that runs when a speed test is due and cannot start (docs/loop.md).
struct LoopHook: Sendable {
  /// The program; the setting `loop.hook`.
  let path: String
  let logger: Logger

  /// Starts the program and does not wait for it. Its argument is the reason, its environment has the line of the notice.
  func call(_ notice: LoopNotice) {
    // Not a part of the loop's task: the loop's end does not cancel the program.
    Task { await run(notice) }
  }

  /// Runs the program until it ends, and logs when it fails.
  func run(_ notice: LoopNotice) async {
    do {
      let ended = try await Subprocess.run(
        .path(FilePath(path)), arguments: [notice.hold.rawValue],
        environment: .inherit.updating([
          "COVERAGE_PROBE_NOTICE": "\(notice)", "COVERAGE_PROBE_TEST": "\(notice.number)",
        ]),
        output: .currentStandardOutput, error: .currentStandardError)
      switch ended.terminationStatus {
      case .exited(0): return
      case .exited(let status): logger.warning("loop.hook \(path) ended with status \(status)")
      case .signaled(let signal): logger.warning("loop.hook \(path) was ended by signal \(signal)")
      }
    } catch {
      logger.warning("loop.hook \(path) cannot be started: \(error)")
    }
  }
}
