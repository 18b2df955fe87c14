import Foundation
import OrderedJSON
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// A run of scripted tests.
@Suite struct QoSRunTests {
  /// A test that calls a function.
  private struct Scripted: QoSTest {
    var limit: Int64 = 5_000_000_000
    let objective = [JSON.Member("scripted_objective", 1)]
    let body: @Sendable (QoSContext) throws(SpeedTestError) -> Int

    func measure(_ context: QoSContext) throws(SpeedTestError) -> Int { try body(context) }
    func members(_ finding: Int) -> [JSON.Member] { [JSON.Member("scripted_result", .integer(Int64(finding)))] }
    func members(without reason: QoSStatus) -> [JSON.Member] {
      [JSON.Member("scripted_status", .string(reason.rawValue))]
    }
    func status(_ finding: Int) -> QoSStatus { .ok }
  }

  /// Tests by number, each in the group that `groups` gives for it.
  private func plan(_ groups: [Int64]) throws -> QoSPlan {
    let tests = groups.enumerated().map { #"{"qos_test_uid":"\#($0.offset)","concurrency_group":"\#($0.element)"}"# }
    let text = #"{"objectives":{"dns":[\#(tests.joined(separator: ","))]}}"#
    return QoSPlan(objectives: try QoSObjectives(Data(text.utf8)), token: try MeasurementToken("t"))
  }

  private func run(
    _ groups: [Int64], seconds: Int = 60, limit: Int64 = 5_000_000_000,
    _ body: @escaping @Sendable (Int64, QoSContext) throws(SpeedTestError) -> Int
  ) async throws -> QoSOutcome {
    var plan = try plan(groups)
    plan.seconds = seconds
    return await QoSRun(plan, source: nil) { objective in
      Scripted(limit: limit) { context throws(SpeedTestError) in try body(objective.uid, context) }
    }.run()
  }

  @Test("When tests end, fail or time out, then each has its own status and members")
  func statuses() async throws {
    let outcome = try await run([1, 1, 1, 1]) { uid, _ throws(SpeedTestError) in
      switch uid {
      case 1: throw .timeout("it")
      case 2: throw .closed
      case 3: throw .commandRefused("it")
      default: return 42
      }
    }
    #expect(outcome.results.map(\.status) == [.ok, .timeout, .error, .error])
    #expect(outcome.results[0].members == [JSON.Member("scripted_objective", 1), JSON.Member("scripted_result", 42)])
    #expect(
      outcome.results[1].members == [JSON.Member("scripted_objective", 1), JSON.Member("scripted_status", "TIMEOUT")])
  }

  @Test(
    "When a test hangs and ignores its limit, then it is a TIMEOUT after its time, and a result that comes later is dropped"
  )
  func hanging() async throws {
    let release = DispatchSemaphore(value: 0)
    let isBack = Mutex(false)
    let (start, watch) = (LoopbackPort.now(), ProgressWatch())
    let outcome = try await run([1, 1, 2], limit: 100_000_000) { uid, _ in
      if uid == 0 {
        release.wait()
        isBack.withLock { $0 = true }
      }
      return 1
    }
    #expect(outcome.results.map(\.status) == [.timeout, .ok, .ok])
    // The grace of a run, and no more.
    #expect(LoopbackPort.now() - start >= 3_100_000_000 && watch.passed < .seconds(30))
    #expect(!isBack.withLock { $0 })
    release.signal()
    _ = try await eventually("the test comes back") { isBack.withLock { $0 ? true : nil } }
    #expect(outcome.value(0, "scripted_status") == "TIMEOUT")
  }

  @Test("When the plan names an interface, then each test gets it, those by HTTP as well")
  func interface() async throws {
    let text =
      #"{"objectives":{"dns":[{"qos_test_uid":"1"}],"website":[{"qos_test_uid":"2"}],"#
      + #""http_proxy":[{"qos_test_uid":"3"}]}}"#
    var plan = QoSPlan(objectives: try QoSObjectives(Data(text.utf8)), token: try MeasurementToken("t"))
    plan.access.interface = "wwan0"
    let outcome = await QoSRun(plan, source: nil) { _ in
      Scripted { context in context.interface == "wwan0" ? 1 : 0 }
    }.run()
    #expect(Set(outcome.results.map(\.uid)) == [1, 2, 3])
    #expect((1...3).allSatisfy { outcome.value($0, "scripted_result") == 1 })
  }

  @Test("When tests are of one group, then they run side by side; groups run one after the other, ascending")
  func sideBySide() async throws {
    let running = Mutex<(now: Int, most: [Int64: Int], order: [Int64])>((0, [:], []))
    let meeting = DispatchSemaphore(value: 0)
    let groups: [Int64] = [7, 7, -3, 7]
    let outcome = try await run(groups) { uid, _ in
      let group = groups[Int(uid)]
      running.withLock {
        $0.now += 1
        $0.most[group] = max($0.most[group] ?? 0, $0.now)
        $0.order.append(group)
        if $0.now == 3 { for _ in 0..<3 { meeting.signal() } }
      }
      // All three of the group have begun before one of them ends.
      if group == 7 { _ = meeting.wait(timeout: .now() + 20) }
      running.withLock { $0.now -= 1 }
      return 1
    }
    #expect(outcome.results.count == 4)
    let seen = running.withLock { $0 }
    #expect(seen.most == [-3: 1, 7: 3])
    #expect(seen.order == [-3, 7, 7, 7])
  }

  @Test("When all tests have a common time limit, then no test has a later limit")
  func wholeLimit() async throws {
    let outcome = try await run([1, 2], seconds: 1, limit: 60_000_000_000) { _, context throws(SpeedTestError) in
      #expect(context.waiting.deadline <= context.now + 1_000_000_000)
      while context.now < context.waiting.deadline { usleep(10_000) }
      throw .timeout("all")
    }
    #expect(outcome.results.map(\.status) == [.timeout, .timeout])
  }

  @Test("When a run is cancelled as a task, then it ends, and each test has ERROR or its earlier result")
  func cancelled() async throws {
    let plan = try plan([1, 2, 2])
    let hasBegun = Mutex(false)
    let task = Task {
      await QoSRun(plan, source: nil) { objective in
        Scripted { context throws(SpeedTestError) in
          if objective.uid == 0 { return 1 }
          hasBegun.withLock { $0 = true }
          while !context.waiting.clock.isAborted() { usleep(5_000) }
          throw .aborted
        }
      }.run()
    }
    _ = try await eventually("the second group") { hasBegun.withLock { $0 ? true : nil } }
    task.cancel()
    #expect(await task.value.results.map(\.status) == [.ok, .error, .error])
  }

  @Test("When there are no tests, then there are no results")
  func none() async throws { #expect(try await run([]) { _, _ in 1 }.results.isEmpty) }

  @Test("When a test needs a server and the objective names none, then it is an ERROR")
  func noServer() async throws {
    let text = #"{"objectives":{"tcp":[{"qos_test_uid":"1","out_port":"5000","server_addr":"127.0.0.1"}]}}"#
    let plan = QoSPlan(objectives: try QoSObjectives(Data(text.utf8)), token: try MeasurementToken("t"))
    let outcome = await QoSRun(plan).run()
    #expect(outcome.results.map(\.status) == [.error])
    #expect(outcome.value(1, "tcp_result_out") == "ERROR")
    #expect(outcome.results.first?.trouble?.contains("no QoS server") == true, "no port, no server")
  }

  @Test("When two results come for a test, then the first one stays")
  func collector() throws {
    let collector = QoSCollector()
    func result(_ uid: Int64, _ status: QoSStatus) -> QoSResult {
      QoSResult(uid: uid, kind: .dns, status: status, start: 0, duration: 0, members: [])
    }
    collector.add(result(1, .timeout))
    collector.add(result(1, .ok))
    #expect(collector.has(1) && !collector.has(0))
    collector.add(result(0, .ok))
    let objectives = try plan([5, 4]).objectives.all
    #expect(objectives.map(\.uid) == [1, 0])
    #expect(collector.results(of: objectives).map(\.status) == [.timeout, .ok])
  }
}
