import Testing

@testable import Submission

@Suite struct SpeedTestRuleTests {
  private typealias Consequence = SpeedTestRule.Consequence

  @Test(
    "when the server reports that the test is over, then a result that may have arrived counts as submitted",
    arguments: ["invalid test status", "Invalid test status: FINISHED", "No started test found"])
  func closed(message: String) {
    let failure = ServerFailure.refused(status: 400, message: message)
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: true) == .submitted)
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: false) == .quarantine)
  }

  @Test(
    "when the server refuses the content, then the test is quarantined, even if it may have arrived before",
    arguments: [400, 409, 413, 422], [false, true])
  func refused(status: Int, mayHaveArrived: Bool) {
    let failure = ServerFailure.refused(status: status, message: "invalid test_speed_upload 0")
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: mayHaveArrived) == .quarantine)
  }

  @Test(
    "when the failure is no definite refusal, then the test waits",
    arguments: [
      .unreachable("x"), .noAnswer("x"), .serverTrouble(status: 500, message: "x"),
      .notTheServer(status: 200, found: "an empty body"), .unusableAnswer("x"), .refused(status: 404, message: "x"),
      .refused(status: 403, message: "x"), .refused(status: 400, message: "No client found"),
    ] as [ServerFailure], [false, true])
  func waits(failure: ServerFailure, mayHaveArrived: Bool) {
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: mayHaveArrived) == .setAside)
  }

  @Test("when the server answers 429, then the test waits for the gate")
  func tooMany() {
    #expect(
      SpeedTestRule.consequence(of: .tooManyRequests(retryAfter: nil), mayHaveArrived: true) == .putOff)
  }
}
