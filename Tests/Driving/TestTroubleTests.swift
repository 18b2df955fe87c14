import ControlServer
import Coverage
import Testing

@testable import Driving
@testable import Submission

/// What of the trouble with requests for tests reaches the log.
struct TestTroubleTests {
  private var troubles = TestTroubles()

  private mutating func isNews(_ error: any Error) -> Bool { troubles.isNews(TestTrouble(error)) }

  @Test("when a wait comes up again and again, with ever fewer seconds, then it is told once")
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

  @Test("when pings have begun on a test, then the next trouble is told, though it is the same")
  mutating func ended() {
    let error = ServerFailure.unreachable("http://x: Connection refused")
    #expect(isNews(error))
    #expect(!isNews(error))
    troubles.end()
    #expect(isNews(error))
  }

  @Test("when trouble has a new text each time, then the log does not grow with it")
  mutating func endless() {
    let told = (0..<1000).filter { troubles.isNews(TestTrouble("trouble \($0)")) }
    #expect(told.count == 16)
  }
}
