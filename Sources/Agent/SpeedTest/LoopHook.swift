import Foundation
import Logging
import Looping

/// The operator's program that runs when a speed test is due and cannot start (docs/loop.md).
struct LoopHook: Sendable {
  /// The program; the setting `loop.hook`.
  let path: String
  let logger: Logger

  /// Starts the program and does not wait for it. Its argument is the reason, its environment has the line of the notice.
  func call(_ notice: LoopNotice) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = [notice.hold.rawValue]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["COVERAGE_PROBE_NOTICE": "\(notice)", "COVERAGE_PROBE_TEST": "\(notice.number)"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.terminationHandler = { [path, logger] ended in
      if ended.terminationStatus != 0 {
        logger.warning("loop.hook \(path) ended with status \(ended.terminationStatus)")
      }
    }
    do { try process.run() } catch {
      logger.warning("loop.hook \(path) cannot be started: \(error.localizedDescription)")
    }
  }
}
