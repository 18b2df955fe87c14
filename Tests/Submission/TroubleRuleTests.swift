import Testing

@testable import Submission

/// Which trouble is one batch's, and which is the server's.
struct TroubleRuleTests {
  @Test("when different batches fail in a row, then the failure counts as the server's, not as a batch's")
  func rule() {
    let failure = ServerFailure.serverTrouble(status: 503, message: "")
    var rule = TroubleRule()
    #expect(rule.failed(1, at: .coverageRequest, failure) == .batch)
    #expect(rule.unresolved == failure && !rule.makesNoTests)
    #expect(rule.failed(1, at: .coverageResult, failure) == .batch, "the same batch again")
    rule.succeeded()
    #expect(rule.unresolved == nil)
    #expect(rule.failed(7, at: .history, failure) == .batch)
    #expect(rule.failed(8, at: .history, failure) == .batch)
    #expect(rule.failed(9, at: .coverageResult, failure) == .server)
    rule.succeeded()
    #expect(rule.failed(2, at: .coverageRequest, failure) == .batch)
    #expect(rule.failed(3, at: .coverageRequest, failure) == .noTests)
    #expect(rule.makesNoTests)
    #expect(rule.failed(4, at: .coverageResult, failure) == .server)
    #expect(rule.unresolved == failure)
  }

  @Test("when 429 comes before the breaker opens, then it stays unresolved until a request succeeds")
  func refused() {
    let failure = ServerFailure.tooManyRequests(retryAfter: nil)
    var rule = TroubleRule()
    rule.refused(failure)
    #expect(rule.unresolved == failure && !rule.makesNoTests)
    let other = ServerFailure.noAnswer("x")
    #expect(rule.failed(1, at: .coverageResult, other) == .batch, "429 is no trouble with a batch")
    #expect(rule.unresolved == other)
    rule.succeeded()
    #expect(rule.unresolved == nil)
    #expect(rule.failed(2, at: .coverageResult, other) == .batch, "a success lies between")
  }
}
