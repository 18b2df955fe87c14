import ControlServer
import Testing

@testable import Submission

/// How a batch goes on after a failed request: the rule alone.
struct BatchRuleTests {
  private static let noClient = ServerFailure.refused(status: 400, message: "No client found by id x")
  private static let noTest = ServerFailure.refused(status: 400, message: "No started test found by id x")
  private static let empty = ServerFailure.notTheServer(status: 200, found: "an empty body")

  /// How one batch goes on after these failures, one after the other.
  private func consequences(
    _ failures: (ServerFailure, RequestStep)..., isSuspect: Bool = false
  ) -> [BatchRule.Consequence] {
    var rule = BatchRule()
    return failures.map { rule.consequence(of: $0.0, at: $0.1, isSuspect: isSuspect) }
  }

  @Test(
    "when a batch's own answer is a failure, then its class says how it goes on",
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
    "when another request of a batch fails, then the batch goes behind the others; without a registration nothing goes")
  func otherSteps() {
    for failure in [Self.empty, Self.noTest, .refused(status: 400, message: "x"), .tooManyRequests(retryAfter: nil)] {
      #expect(
        consequences((failure, .coverageRequest), (failure, .settings), isSuspect: true) == [.setAside, .endPass])
    }
  }

  @Test("when registering again, or another test, does not help, then it is not tried a second time")
  func once() {
    let found = consequences(
      (Self.noClient, .settings), (Self.noTest, .coverageResult), (Self.noClient, .coverageResult),
      (Self.noTest, .coverageResult), (Self.noClient, .settings))
    #expect(found == [.registerAgain, .replaceTest, .setAside, .setAside, .endPass])
  }

  @Test(
    "when the server takes others and swallows this one again and again, then it is the batch; other trouble is not")
  func suspect() {
    #expect(consequences((Self.empty, .coverageResult), isSuspect: true) == [.suspect])
    for failure in [ServerFailure.notTheServer(status: 302, found: "a redirect"), .noAnswer("x")] {
      #expect(consequences((failure, .coverageResult), isSuspect: true) == [.setAside])
    }
  }

  @Test("when a batch may have arrived, then it stays in doubt; only a plain no to the batch itself ends the doubt")
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
