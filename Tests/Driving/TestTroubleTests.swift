import Coverage
import Testing

@testable import Driving
@testable import Submission

/// The troubles with requests for tests that reach the log.
struct TestTroubleTests {
  private var troubles = TestTroubles()

  private mutating func isNews(_ error: any Error) -> Bool { troubles.isNews(TestTrouble(error)) }

  @Test("when a wait comes up again and again, with fewer and fewer seconds, then it is logged once")
  mutating func held() {
    #expect(isNews(ServerFailure.tooManyRequests(retryAfter: .seconds(30))))
    for seconds in (1..<30).reversed() {
      #expect(isNews(ServerGate.Hold.breaker(.seconds(seconds))) == (seconds == 29))
    }
    #expect(!isNews(ServerFailure.tooManyRequests(retryAfter: .seconds(60))))
    #expect(!isNews(ServerGate.Hold.breaker(.seconds(60))))
    #expect(isNews(ServerFailure.serverTrouble(status: 503, message: "busy", retryAfter: .seconds(9))))
    #expect(!isNews(ServerFailure.serverTrouble(status: 503, message: "busy", retryAfter: .seconds(8))))
    #expect(isNews(ServerFailure.refused(status: 400, message: "No client found")))
  }

  @Test("when pings have begun on a test, then the next trouble is logged, even if it is the same")
  mutating func ended() {
    let error = ServerFailure.unreachable("http://x: Connection refused")
    #expect(isNews(error))
    #expect(!isNews(error))
    troubles.end()
    #expect(isNews(error))
  }

  @Test("when trouble has a new text each time, then only 16 texts are logged")
  mutating func endless() {
    let logged = (0..<1000).filter { troubles.isNews(TestTrouble("trouble \($0)")) }
    #expect(logged.count == 16)
  }
}
