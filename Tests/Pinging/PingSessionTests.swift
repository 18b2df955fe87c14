import Coverage
import TestSupport
import Testing

@testable import Pinging

struct PingSessionTests {
  private var session = PingSession()

  private mutating func wants(at seconds: Double, path: Path = .cellular) -> Bool {
    session.wantsRequest(at: .seconds(seconds), path: path)
  }

  @Test("when a drive begins, then a test is asked for at once, and only once")
  mutating func start() {
    #expect(wants(at: 0))
    #expect(!wants(at: 1))
  }

  @Test("when requests fail, then the wait doubles from 1 s to 60 s")
  mutating func retries() {
    var now = 0.0
    var waits: [Double] = []
    for _ in 0..<9 {
      let asked = now
      while !wants(at: now) { now += 0.5 }
      waits.append(now - asked)
      session.failed(at: .seconds(now))
    }
    #expect(waits == [0, 1, 2, 4, 8, 16, 32, 60, 60])
  }

  @Test("when the path is Wi-Fi, then no test is asked for")
  mutating func wifi() {
    #expect(!wants(at: 0, path: .wifi))
    #expect(wants(at: 1))
  }

  @Test("when the server's limit for a session is reached, then a new test is asked for")
  mutating func limit() {
    #expect(wants(at: 0))
    session.granted(limit: .seconds(60), at: .seconds(5))
    #expect(!wants(at: 59.9))
    #expect(wants(at: 60), "the age counts from the request")
  }

  @Test("when the server names no limit, or one of months, then the token's life is the limit")
  mutating func tokenLife() {
    for limit in [nil, Duration.seconds(14_400_000)] {
      session = PingSession()
      #expect(wants(at: 0))
      session.granted(limit: limit, at: .seconds(1))
      #expect(!wants(at: 4 * 3600 - 121))
      #expect(wants(at: 4 * 3600 - 119))
    }
  }

  @Test("when a proven token is refused, then a new test is asked for at once")
  mutating func refused() {
    #expect(wants(at: 0))
    session.granted(limit: nil, at: .seconds(1))
    session.answered()
    session.refused(at: .seconds(100))
    #expect(wants(at: 100))
  }

  @Test("when every new token is refused, then the server is not hammered")
  mutating func refusedAgainAndAgain() {
    var requests = 0
    var now = 0.0
    while now < 600 {
      if wants(at: now) {
        requests += 1
        session.granted(limit: nil, at: .seconds(now))
        session.refused(at: .seconds(now + 0.1))
      }
      now += 0.1
    }
    #expect((10...18).contains(requests), "\(requests) requests in ten minutes")
  }
}
