import Coverage
import Testing

@testable import Store
@testable import Submission

/// The values that a pass decides by: its queue, its end, its schedule.
struct PassStateTests {
  private static let trouble = ServerFailure.serverTrouble(status: 503, message: "")

  // MARK: The queue

  @Test("when batches may have been sent, then all others go before them until the history is read")
  func doubtful() {
    var pass = Pass(mode: .cold, urgency: .commanded, running: nil)
    pass.queue = [.sample(1, state: .sending, test: "A"), .sample(2, test: "B"), .sample(3)]
    var order: [Int64] = []
    while let batch = pass.next {
      order.append(batch.id)
      pass.accepted(batch)
    }
    #expect(order == [2, 3])
    pass.areDoubtsResolved = true
    #expect(pass.next?.id == 1)
  }

  @Test("when the server creates no tests, then batches with a test are sent, and the others wait")
  func noTests() {
    var pass = Pass(mode: .cold, urgency: .commanded, running: nil)
    pass.queue = [.sample(1), .sample(2), .sample(3, test: "A")]
    for id in [1, 2] as [Int64] { _ = pass.rule.failed(id, at: .coverageRequest, Self.trouble) }
    #expect(pass.next?.id == 3)
    pass.remove(.sample(3))
    #expect(pass.next == nil)
    pass.complete()
    #expect(pass.report.sessionsKept == 2)
  }

  @Test(
    "when a part of a session was sent and another waits or was refused, then the session counts as kept or refused only"
  )
  func counts() {
    var pass = Pass(mode: .cold, urgency: .commanded, running: nil)
    let batches = [
      Batch.sample(1, session: 1), .sample(2, session: 1), .sample(3, session: 2), .sample(4, session: 2), .sample(5),
    ]
    pass.queue = batches
    for sent in [0, 2, 4] { pass.accepted(batches[sent]) }
    pass.quarantined(batches[3])
    pass.complete()
    let report = pass.report
    #expect((report.sessionsSent, report.sessionsKept, report.sessionsQuarantined) == (1, 1, 1))
    #expect(report.fencesSent == 3)
    #expect(pass.summary == "sent 3 fences of 3 sessions, 1 session kept for later, 1 quarantined")
  }

  @Test("when the server refuses one batch after the other, then a background pass ends, a commanded pass does not")
  func refusals() {
    for urgency in [ServerGate.Urgency.background, .commanded] {
      var pass = Pass(mode: .cold, urgency: urgency, running: nil)
      let ends = (1...Int64(Pass.refusalLimit)).map { pass.refused(.sample($0)) }
      #expect(ends.dropLast().allSatisfy { !$0 })
      #expect(ends.last == (urgency == .background))
    }
    var pass = Pass(mode: .cold, urgency: .background, running: nil)
    for id in 1..<Int64(Pass.refusalLimit) { _ = pass.refused(.sample(id)) }
    pass.accepted(.sample(99))
    let isEnough = pass.refused(.sample(100))
    #expect(!isEnough, "not in a row")
  }

  @Test("when batches are read again, then the queue keeps its order, takes the new values and drops missing batches")
  func refresh() {
    var pass = Pass(mode: .cold, urgency: .commanded, running: nil)
    pass.queue = [.sample(1), .sample(2), .sample(3)]
    pass.refresh(with: [.sample(3, fences: 7), .sample(1, fences: 5)])
    #expect(pass.queue.map(\.id) == [1, 3])
    #expect(pass.queue.map(\.fences) == [5, 7])
  }

  // MARK: The end

  @Test(
    "when a step throws, then the error decides how the pass ends: failed, stopped or held; a store error decides nothing"
  )
  func ends() {
    struct StoreTrouble: Error {}
    if let end = PassEnd(StoreTrouble(), isCancelled: false) { Issue.record("\(end)") }
    guard case .failed(Self.trouble) = PassEnd(Self.trouble, isCancelled: false),
      case .stopped(Self.trouble) = PassEnd(Self.trouble, isCancelled: true),
      case .stopped(nil) = PassEnd(CancellationError(), isCancelled: true),
      case .held(.clock) = PassEnd(PassEnd.held(.clock), isCancelled: false),
      case .held(.gate(.retryAfter(.seconds(3)))) = PassEnd(ServerGate.Hold.retryAfter(.seconds(3)), isCancelled: true)
    else {
      Issue.record("another end")
      return
    }
  }

  // MARK: The schedule

  @Test("when a process keeps sending, then its passes are cold until one has handled all fences of earlier processes")
  func mode() {
    var schedule = PassSchedule(every: .seconds(900), policy: ServerGate.Policy())
    schedule.passEnded(PassReport(hold: .clock))
    #expect(schedule.mode == .cold)
    var report = PassReport()
    report.fencesWithoutSession = 1
    schedule.passEnded(report)
    #expect(schedule.mode == .cold)
    schedule.storeFailed(at: .zero, random: 0.5)
    #expect(schedule.mode == .cold)
    schedule.passEnded(PassReport())
    #expect(schedule.mode == .warm)
    schedule.passEnded(PassReport(hold: .clock))
    #expect(schedule.mode == .warm)
  }

  @Test(
    "when the gate or the store asks for a wait, then the next pass comes after the longer of both, or after the interval"
  )
  func wait() {
    var schedule = PassSchedule(every: .seconds(900), policy: ServerGate.Policy())
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(900))
    #expect(schedule.wait(gate: .seconds(5), at: .zero) == .seconds(5))
    #expect(schedule.wait(gate: .seconds(3600), at: .zero) == .seconds(900))
    schedule.storeFailed(at: .zero, random: 0.5)
    #expect(schedule.wait(gate: .seconds(5), at: .zero) == .seconds(16))
    #expect(schedule.wait(gate: .seconds(20), at: .zero) == .seconds(20))
    schedule.storeFailed(at: .zero, random: 0.5)
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(31))
    schedule.passEnded(PassReport())
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(900))
  }

  @Test("when the clock is not set, then the next pass comes soon, however long the interval is")
  func clockNotSet() {
    var schedule = PassSchedule(every: .seconds(900), policy: ServerGate.Policy())
    schedule.passEnded(PassReport(hold: .clock))
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(10))
    #expect(schedule.wait(gate: .seconds(60), at: .zero) == .seconds(10), "it sends nothing without a clock")
    #expect(schedule.mode == .cold)
    schedule.passEnded(PassReport())
    #expect(schedule.wait(gate: .zero, at: .zero) == .seconds(900))
    var frequent = PassSchedule(every: .seconds(3), policy: ServerGate.Policy())
    frequent.passEnded(PassReport(hold: .clock))
    #expect(frequent.wait(gate: .zero, at: .zero) == .seconds(3))
  }
}

extension Batch {
  /// A batch of a session of its own, unless the test sets one.
  static func sample(
    _ id: Int64, session: Int64? = nil, state: State = .waiting, test: String? = nil, client: String? = nil,
    attempt: Int = 0, sent: WallTime? = nil, doubt: String? = nil, sentFences: Int? = nil, fences: Int = 1
  ) -> Batch {
    Batch(
      id: id, session: session ?? id * 100, driveStarted: .rigStart,
      test: test.map { Test(uuid: $0, anchor: .rigStart) }, client: client, state: state, attempt: attempt,
      troubles: 0, sent: sent, doubt: doubt, sentFences: sentFences, fences: fences, earliest: .rigStart)
  }
}
