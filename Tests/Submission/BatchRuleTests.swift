import Coverage
import Store
import Testing

@testable import Submission

/// The consequences of a failed request for its batch: the rule alone.
struct BatchRuleTests {
  private static let noClient = ServerFailure.refused(status: 400, message: "No client found by id x")
  private static let noTest = ServerFailure.refused(status: 400, message: "No started test found by id x")
  private static let empty = ServerFailure.notTheServer(status: 200, found: "an empty body")

  /// The consequences of these failures for one batch, in this order.
  private func consequences(
    _ failures: (ServerFailure, RequestStep)..., isSuspect: Bool = false, isInDoubt: Bool = false
  ) -> [BatchRule.Consequence] {
    var rule = BatchRule()
    return failures.map { rule.consequence(of: $0.0, at: $0.1, isSuspect: isSuspect, isInDoubt: isInDoubt) }
  }

  @Test(
    "when submitting a batch fails, then the class of the failure decides the consequence",
    arguments: [
      (.tooManyRequests(retryAfter: nil), .putOff), (.unreachable("x"), .setAside), (.noAnswer("x"), .setAside),
      (.serverTrouble(status: 503, message: ""), .setAside), (empty, .setAside),
      (.refused(status: 403, message: ""), .setAside), (.refused(status: 404, message: ""), .setAside),
      (.refused(status: 422, message: ""), .refuse), (noTest, .replaceTest), (noClient, .registerAgain),
    ] as [(ServerFailure, BatchRule.Consequence)])
  func classes(failure: ServerFailure, consequence: BatchRule.Consequence) {
    #expect(consequences((failure, .coverageResult)) == [consequence])
  }

  @Test(
    "when another request of a batch fails, then the batch goes behind the others; a failed registration ends the pass")
  func otherSteps() {
    for failure in [Self.empty, Self.noTest, .refused(status: 400, message: "x"), .tooManyRequests(retryAfter: nil)] {
      #expect(
        consequences((failure, .coverageRequest), (failure, .settings), isSuspect: true) == [.setAside, .endPass])
    }
  }

  @Test("when a new registration or a new test does not help, then it is not tried a second time")
  func once() {
    let found = consequences(
      (Self.noClient, .settings), (Self.noTest, .coverageResult), (Self.noClient, .coverageResult),
      (Self.noTest, .coverageResult), (Self.noClient, .settings))
    #expect(found == [.registerAgain, .replaceTest, .setAside, .setAside, .endPass])
  }

  @Test(
    "when the server swallows only this batch again and again, then the batch is suspect; other trouble proves nothing")
  func suspect() {
    #expect(consequences((Self.empty, .coverageResult), isSuspect: true) == [.refuse])
    for failure in [ServerFailure.notTheServer(status: 302, found: "a redirect"), .noAnswer("x")] {
      #expect(consequences((failure, .coverageResult), isSuspect: true) == [.setAside])
    }
  }

  @Test("when an earlier request of a batch left within the hour, then no refusal sends its fences to another test")
  func earlierRequest() {
    for status in [400, 409, 413, 422] {
      #expect(consequences((.refused(status: status, message: ""), .coverageResult), isInDoubt: true) == [.wait])
    }
    #expect(consequences((Self.empty, .coverageResult), isSuspect: true, isInDoubt: true) == [.setAside])
    #expect(BatchRule.hasNotArrived(after: Self.empty, at: .coverageResult, isInDoubt: true), "the earlier one counts")
    #expect(consequences((Self.noTest, .coverageResult), isInDoubt: true) == [.replaceTest], "the history decides")
  }

  @Test("when a request left within an hour by the time since the boot, then its batch is in doubt, over boots")
  func hour() throws {
    let time = TurnedClock()
    func batch(_ end: Duration, _ state: Batch.State = .sending) throws -> Batch {
      .sample(1, state: state, test: "T1", doubt: try Doubt.text(until: end, by: time.clock))
    }
    let sent = try batch(time.clock.boot() + Doubt.lasts)
    time.turn(by: .seconds(3599))
    #expect(BatchRule.isInDoubt(sent, by: time.clock))
    #expect(try !BatchRule.isInDoubt(batch(.seconds(9999), .waiting), by: time.clock))
    #expect(!BatchRule.isInDoubt(.sample(1, state: .sending, test: "T1"), by: time.clock), "of a lost row")
    #expect(
      BatchRule.isInDoubt(.sample(1, state: .sending, test: "T1", sent: time.clock.wall()), by: time.clock),
      "of a version without the hour")
    #expect(BatchRule.isInDoubt(.sample(1, state: .sending, doubt: "?"), by: time.clock), "of another version")
    // The host runs for ten minutes at a time. In each boot the server refuses the batch, and the rest is stored.
    var (kept, boots) = (try batch(time.clock.boot() + Doubt.lasts), 0)
    while let end = Doubt.end(of: kept, by: time.clock), boots < 10 {
      kept = try batch(end)
      time.reboot()
      time.turn(by: .seconds(600))
      boots += 1
    }
    #expect(boots == 6)
  }

  @Test("when empty answers go on after the hour of the first one, then they begin an hour for refusals only")
  func emptyAnswers() throws {
    let time = TurnedClock()
    func batch(_ doubt: String) -> Batch {
      .sample(1, state: .sending, test: "T1", sent: time.clock.wall(), doubt: doubt)
    }
    func isInDoubt(_ batch: Batch, _ failure: ServerFailure) -> Bool {
      BatchRule.isInDoubt(batch, after: failure, by: time.clock)
    }
    let first = batch(try Doubt.text(until: time.clock.boot() + Doubt.lasts, by: time.clock))
    #expect(isInDoubt(first, Self.empty) && !BatchRule.isEmptyAgain(Self.empty, of: first, by: time.clock))
    time.turn(by: Doubt.lasts)
    #expect(!isInDoubt(first, Self.empty) && BatchRule.isEmptyAgain(Self.empty, of: first, by: time.clock))
    #expect(!BatchRule.isEmptyAgain(.noAnswer("x"), of: first, by: time.clock))
    let again = batch(
      try Doubt.text(until: time.clock.boot() + Doubt.lasts, isOfEmptyAnswers: true, by: time.clock))
    #expect(!isInDoubt(again, Self.empty) && BatchRule.isEmptyAgain(Self.empty, of: again, by: time.clock))
    #expect(isInDoubt(again, Self.noTest) && isInDoubt(again, .refused(status: 409, message: "")))
    #expect(BatchRule.isInDoubt(again, by: time.clock))
    // A request without an answer begins another doubt.
    let lost = batch(try Doubt.text(until: time.clock.boot() + Doubt.lasts, by: time.clock))
    #expect(isInDoubt(lost, Self.empty))
  }

  @Test("when a batch may have arrived, then it stays in doubt until a failure of its own request rules that out")
  func doubt() {
    for failure in [Self.empty, .noAnswer("x"), Self.noTest, .serverTrouble(status: 500, message: "")] {
      #expect(!BatchRule.hasNotArrived(after: failure, at: .coverageResult))
    }
    for failure in [
      Self.noClient, .unreachable("x"), .tooManyRequests(retryAfter: nil), .refused(status: 404, message: ""),
    ] {
      #expect(BatchRule.hasNotArrived(after: failure, at: .coverageResult))
      #expect(!BatchRule.hasNotArrived(after: failure, at: .history), "that says nothing about an earlier request")
    }
  }
}
