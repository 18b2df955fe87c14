import Testing

@testable import Submission

/// Which trouble is one batch's, and which is the server's.
struct TroubleJudgeTests {
  @Test("when different batches fail in a row, then the failure counts as the server's, not as a batch's")
  func judge() {
    let failure = ServerFailure.serverTrouble(status: 503, message: "")
    var judge = TroubleJudge()
    #expect(judge.failed(1, at: .coverageRequest, failure) == .batch)
    #expect(judge.unresolved == failure && !judge.makesNoTests)
    #expect(judge.failed(1, at: .coverageResult, failure) == .batch, "the same batch again")
    judge.succeeded()
    #expect(judge.unresolved == nil)
    #expect(judge.failed(7, at: .history, failure) == .batch)
    #expect(judge.failed(8, at: .history, failure) == .batch)
    #expect(judge.failed(9, at: .coverageResult, failure) == .server)
    judge.succeeded()
    #expect(judge.failed(2, at: .coverageRequest, failure) == .batch)
    #expect(judge.failed(3, at: .coverageRequest, failure) == .noTests)
    #expect(judge.makesNoTests)
    #expect(judge.failed(4, at: .coverageResult, failure) == .server)
    #expect(judge.unresolved == failure)
  }

  @Test("when 429 comes before the breaker opens, then it stays unresolved until a request succeeds")
  func refused() {
    let failure = ServerFailure.tooManyRequests(retryAfter: nil)
    var judge = TroubleJudge()
    judge.refused(failure)
    #expect(judge.unresolved == failure && !judge.makesNoTests)
    let other = ServerFailure.noAnswer("x")
    #expect(judge.failed(1, at: .coverageResult, other) == .batch, "429 is no trouble with a batch")
    #expect(judge.unresolved == other)
    judge.succeeded()
    #expect(judge.unresolved == nil)
    #expect(judge.failed(2, at: .coverageResult, other) == .batch, "a success lies between")
  }
}
