import Foundation
import TestSupport

@testable import SpeedTest

/// The threads of one test against a ``LoopbackServer``, without ``SpeedTestRun``'s clock.
struct WorkerRig {
  let clock: StepClock
  let server: LoopbackServer
  let plan: SpeedTestPlan
  /// The threads' reports to a display.
  private let progress = Collected<SpeedTestProgress>()

  init(
    threads: Int = 3, seconds: Int = 1, pings: Int = 10, clock: StepClock = StepClock(), batchSeconds: Double = 0.25,
    react: @escaping LoopbackServer.React = { _ in .serve }
  ) throws {
    self.clock = clock
    server = try LoopbackServer(clock: clock, batchSeconds: batchSeconds, react: react)
    var plan = SpeedTestPlan(host: "127.0.0.1", port: server.port, token: try MeasurementToken("token"))
    (plan.opening, plan.threads, plan.seconds, plan.pings) = (.native, threads, seconds, pings)
    self.plan = plan
  }

  var reports: [SpeedTestProgress] { progress.all }

  /// Runs all threads to their ends.
  func run() async throws -> SpeedTestOutcome {
    let addresses = try Addresses(host: plan.host, port: plan.port, family: plan.access.family)
    let connector = Connector(plan: plan, addresses: addresses, tls: nil, waiting: clock.waiting())
    let (barrier, record) = (Barrier(members: plan.connections, now: clock.clock.now), RunRecord())
    let (start, progress) = (clock.now, progress)
    await withTaskGroup { group in
      for index in 0..<plan.connections {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              Worker(index, connector: connector, barrier: barrier, record: record, start: start) {
                progress.append($0)
              }.run()
              continuation.resume()
            }
          }
        }
      }
    }
    return record.result
  }

  /// The positions in the journal of the lines that begin with `word`.
  func places(_ word: String) -> [Int] {
    server.journal.indices.filter { server.journal[$0].line.split(separator: " ").first.map(String.init) == word }
  }

  /// The connection on which each line of `word` came.
  func connections(_ word: String) -> [Int] { places(word).map { server.journal[$0].connection } }
}
