import Coverage
import Driving
import Foundation
import Logging
import Settings
import SpeedTest
import Synchronization

/// A loop of speed tests with its sources and its hook: beside a drive, or alone.
package struct RunningLoop: Sendable {
  package let bench: TestBench
  /// The number of tests.
  package let count: Int
  private let runner: LoopRunner
  /// Raised by the first ``stop()``.
  private let stopAsked = Flag()

  /// A loop that continues the stored one, if that is not over.
  /// - Parameter report: Receives news; must return at once.
  /// - Throws: GRDB's `DatabaseError`
  package init(
    _ rules: LoopRules, _ configuration: ProbeConfiguration, _ environment: DriveEnvironment, isNew: Bool = false,
    report: @escaping @Sendable (LoopNews) -> Void
  ) async throws {
    let bench = TestBench(configuration, environment)
    self.bench = bench
    count = rules.count
    let hook = configuration.loop.hook.map { LoopHook(path: $0, logger: environment.logger) }
    runner = try await LoopRunner(
      rules, options: bench.options, environment: bench.tests, isNew: isNew, host: .host(environment)
    ) { news in
      if case .notice(let notice) = news { hook?.call(notice) }
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
      group.addTask { [bench, runner] in
        await bench.follow {
          runner.put(.fix($0))
        } onPath: {
          runner.put(.link(otherLink: $0.presentRemedy))
        }
        return nil
      }
      // The first position comes soon after the connection to the receiver: no notice of its absence before that.
      await bench.surroundings.waitUntilKnown(atMost: .seconds(3))
      // Before the first test, whichever source was heard first.
      runner.put(.link(otherLink: bench.path.current.presentRemedy))
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
