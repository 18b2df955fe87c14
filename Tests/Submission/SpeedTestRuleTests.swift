import ControlServer
import Testing

@testable import Submission

@Suite struct SpeedTestRuleTests {
  private typealias Consequence = SpeedTestRule.Consequence

  @Test(
    "when the server says that the test is over, then it has the result if an earlier request may have arrived",
    arguments: ["invalid test status", "Invalid test status: FINISHED", "No started test found"])
  func closed(message: String) {
    let failure = ServerFailure.refused(status: 400, message: message)
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: true) == .submitted)
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: false) == .quarantine)
  }

  @Test(
    "when the server refuses the content, then the test is quarantined, whatever went before",
    arguments: [400, 409, 413, 422], [false, true])
  func refused(status: Int, mayHaveArrived: Bool) {
    let failure = ServerFailure.refused(status: status, message: "invalid test_speed_upload 0")
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: mayHaveArrived) == .quarantine)
  }

  @Test(
    "when nothing says that the server refuses it for good, then the test waits",
    arguments: [
      .unreachable("x"), .noAnswer("x"), .serverTrouble(status: 500, message: "x"),
      .notTheServer(status: 200, found: "an empty body"), .unusableAnswer("x"), .refused(status: 404, message: "x"),
      .refused(status: 403, message: "x"), .refused(status: 400, message: "No client found"),
    ] as [ServerFailure], [false, true])
  func waits(failure: ServerFailure, mayHaveArrived: Bool) {
    #expect(SpeedTestRule.consequence(of: failure, mayHaveArrived: mayHaveArrived) == .setAside)
  }

  @Test("when the server asks for fewer requests, then the test waits for the gate")
  func tooMany() {
    #expect(
      SpeedTestRule.consequence(of: .tooManyRequests(retryAfter: nil), mayHaveArrived: true) == .putOff)
  }
}
