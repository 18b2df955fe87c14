import CPinger
import Coverage
import Driving
import Foundation
import Logging
import Settings
import SpeedTest
import Synchronization
import SystemServices

/// A loop of speed tests with its sources and its hook: beside a drive, or alone.
package struct RunningLoop: Sendable {
  package let setup: TestSetup
  package let count: Int
  private let runner: LoopRunner
  /// Raised by the first ``stop()``.
  private let stopAsked = Flag()

  /// A loop that continues the stored one, if that is not over.
  /// - Parameter report: Receives news; must return at once.
  /// - Throws: ``ConfigurationError`` without a control server; GRDB's `DatabaseError`
  package init(
    _ rules: LoopRules, _ configuration: ProbeConfiguration, _ environment: DriveEnvironment, isNew: Bool = false,
    report: @escaping @Sendable (LoopNews) -> Void
  ) async throws {
    guard configuration.controlServer.url != nil else {
      throw ConfigurationError.missing(
        key: "control-server.url", purpose: "without it there are no speed tests", file: configuration.file)
    }
    let setup = TestSetup(configuration, environment)
    self.setup = setup
    count = rules.count
    let hook = configuration.loop.hook.map { LoopHook(path: $0, logger: environment.logger) }
    runner = try await LoopRunner(
      rules, options: setup.options, environment: setup.tests, isNew: isNew, host: .host(environment)
    ) { news in
      switch news {
      case .notice(let notice): hook?.call(notice)
      case .testEnded: cpprocess_return_free_pages()
      default: break
      }
      report(news)
    }
  }

  /// The state of the loop.
  package var memory: LoopMemory { get async { await runner.memory } }

  /// Passes an input to the loop.
  package func put(_ input: LoopInput) { runner.put(input) }

  /// Ends the loop.
  /// - Returns: Whether this was the first call.
  package func stop() -> Bool {
    runner.put(.stop)
    return stopAsked.raise()
  }

  /// Runs until the loop is over or the task is cancelled.
  package func run() async -> LoopEnd? {
    await withTaskGroup(of: LoopEnd?.self) { group in
      group.addTask { [setup, runner] in
        await setup.follow {
          runner.put(.fix($0))
        } onPath: {
          runner.put(.link(otherLink: $0.presentRemedy))
        }
        return nil
      }
      // The first position comes soon after the connection to the receiver: no notice of its absence before that.
      await setup.conditions.waitUntilKnown(atMost: .seconds(3))
      // Before the first test, whichever source was heard first.
      runner.put(.link(otherLink: setup.path.current.presentRemedy))
      let end = await runner.run()
      group.cancelAll()
      return end
    }
  }
}

/// A flag that is raised once.
private final class Flag: Sendable {
  private let isRaised = Atomic(false)

  /// - Returns: Whether this was the first call.
  func raise() -> Bool { !isRaised.exchange(true, ordering: .relaxed) }
}

/// The operator's program that runs when a speed test is due and cannot start (docs/loop.md).
struct LoopHook: Sendable {
  /// The lines of its output that the log has; of the others, their number.
  static let lines = 10

  /// The program; the setting `loop.hook`.
  let path: String
  let logger: Logger
  /// How long it may run; notices of one kind are at least as far apart.
  var limit = Duration.seconds(600)

  /// Starts the program and does not wait for it. Its argument is the reason, its environment has the line of the notice.
  func call(_ notice: LoopNotice) {
    // Not a part of the loop's task: the loop's end does not cancel the program.
    let call = Task { await run(notice) }
    Task {
      try await Task.sleep(for: limit)
      call.cancel()
    }
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
      try Task.checkCancellation()
      if others > 0 { logger.notice("loop.hook \(path) printed \(others) more lines") }
      switch status {
      case .exited(0): return
      case .exited(let status): logger.warning("loop.hook \(path) ended with status \(status)")
      case .signaled(let signal): logger.warning("loop.hook \(path) was ended by signal \(signal)")
      }
    } catch is CancellationError {
      logger.warning("loop.hook \(path) ran for \(limit.inSeconds) s and was ended")
    } catch {
      logger.warning("loop.hook \(path) cannot be started: \(error)")
    }
  }
}
