import Coverage
import Testing

@testable import Pinging

struct TestSelectionTests {
  private var session = TestSelection()

  private mutating func tick(_ seconds: Double, path: Path = .cellular) -> TestSelection.Decision {
    session.tick(at: .seconds(seconds), path: path)
  }

  /// Gets a test that is requested at that time.
  private mutating func obtain(at seconds: Double, limit: Duration? = nil) -> Int {
    guard case .prepare(let generation) = tick(seconds) else {
      Issue.record("no test wanted at \(seconds)")
      return -1
    }
    session.granted(generation, at: .seconds(seconds))
    session.activated(generation, limit: limit, at: .seconds(seconds))
    return generation
  }

  /// The times of the next requests for a test, in steps of a tenth of a second. Each request ends in `outcome`.
  private mutating func attempts(
    from start: Double, until end: Double, path: Path = .cellular,
    _ outcome: (inout TestSelection, Int, DriveTime) -> Void
  ) -> [Double] {
    var times: [Double] = []
    for tenth in Int(start * 10)...Int(end * 10) {
      let now = Double(tenth) / 10
      if case .prepare(let generation) = tick(now, path: path) {
        times.append(now)
        outcome(&session, generation, .seconds(now))
      }
    }
    return times
  }

  // MARK: Getting a test

  @Test("when a drive begins, then a test is requested at once, and only one")
  mutating func start() {
    #expect(tick(0) == .prepare(1))
    #expect(tick(0.1) == .skip)
    #expect(tick(3600) == .skip, "the first request has no timeout")
    session.activated(1, limit: nil, at: .seconds(3601))
    #expect(tick(3601) == .send(1))
  }

  @Test("when requests fail, then the wait doubles from 1 s to 60 s")
  mutating func retries() {
    let times = attempts(from: 0, until: 240) { $0.requestFailed($1, at: $2) }
    #expect(times == [0, 1, 3, 7, 15, 31, 63, 123, 183])
  }

  @Test("when the network comes back, then a test is requested at once")
  mutating func networkIsBack() {
    let failed = attempts(from: 0, until: 40, path: .offline) { $0.requestFailed($1, at: $2) }
    #expect(failed.last == 31)
    #expect(tick(40.1) == .prepare(failed.count + 1))
  }

  @Test("when the network comes back while a request hangs, then the next one replaces it, and the waits are reset")
  mutating func networkIsBackWhileAsking() {
    _ = attempts(from: 0, until: 40, path: .offline) { $0.requestFailed($1, at: $2) }
    guard case .prepare(let hanging) = tick(63, path: .offline) else {
      Issue.record("no request at 63")
      return
    }
    #expect(tick(70, path: .offline) == .skip)
    #expect(tick(71) == .prepare(hanging + 1))
    #expect(!session.awaits(hanging))
    session.requestFailed(hanging, at: .seconds(71))
    session.requestFailed(hanging + 1, at: .seconds(71.5))
    #expect(tick(71.9) == .skip)
    #expect(tick(72) == .prepare(hanging + 2), "1 s after the last")
    session.granted(hanging + 2, at: .seconds(72.5))
    #expect(tick(73, path: .offline) == .skip)
    #expect(tick(74) == .skip, "a granted test is kept")
  }

  @Test("when pings on new tests cannot begin, then the waits are 1, 10, 20, 40, 80 and 120 s")
  mutating func activationLadder() {
    let times = attempts(from: 0, until: 420) { session, generation, now in
      session.granted(generation, at: now)
      session.activationFailed(generation, at: now)
    }
    #expect(times == [0, 1, 11, 31, 71, 151, 271, 391])
  }

  @Test("when pings have begun once, then the waits after a failure to begin are reset")
  mutating func activationLadderIsReset() {
    _ = attempts(from: 0, until: 20) { $0.activationFailed($1, at: $2) }
    let good = obtain(at: 31)
    session.refused(good)
    let times = attempts(from: 31.1, until: 35) { $0.activationFailed($1, at: $2) }
    #expect(times == [31.1, 32.1])
  }

  @Test("when an answer comes after its timeout, then it changes nothing")
  mutating func lateAnswer() {
    let old = obtain(at: 0, limit: .seconds(10))
    for _ in 0..<30 { session.answered(old) }
    #expect(tick(10) == .prepare(2))
    #expect(tick(24.9) == .skip)
    #expect(tick(25) == .prepare(3), "15 s are over")
    #expect(!session.awaits(2))
    session.activated(2, limit: nil, at: .seconds(25.05))
    session.activated(old, limit: nil, at: .seconds(25.05))
    #expect(session.inUse == nil)
    #expect(session.awaits(3))
  }

  @Test("when the activation after the answer exceeds its timeout, then another test is requested")
  mutating func activationTimeout() {
    let old = obtain(at: 0, limit: .seconds(10))
    for _ in 0..<30 { session.answered(old) }
    #expect(tick(10) == .prepare(2))
    session.granted(2, at: .seconds(12))
    #expect(tick(16.9) == .skip)
    #expect(tick(17) == .prepare(3), "5 s are over")
  }

  // MARK: The end of a test

  @Test("when a test is as old as the server allows, then no more pings are sent on it")
  mutating func limit() {
    let first = obtain(at: 5, limit: .seconds(60))
    #expect(tick(58.9) == .send(first))
    #expect(tick(59) == .prepare(first + 1))
    for _ in 0..<30 { session.answered(first) }
    #expect(tick(64.9) == .send(first), "the age counts from the request")
    #expect(tick(65) == .skip)
    #expect(session.inUse == nil)
  }

  @Test(
    "when the server names no limit, or one of months, then the token's life is the limit",
    arguments: [nil, 14_400_000])
  mutating func tokenLife(limit: Int?) {
    let first = obtain(at: 0, limit: limit.map { .seconds($0) })
    #expect(tick(4 * 3600 - 151) == .send(first))
    #expect(tick(4 * 3600 - 150) == .prepare(first + 1))
    #expect(tick(4 * 3600 - 136) == .send(first), "its request has timed out")
    #expect(tick(4 * 3600 - 119) == .prepare(first + 2))
    #expect(session.inUse == nil)
  }

  @Test("when a test is used that an earlier preparation requested, then its age counts from that request")
  mutating func keptTest() {
    let failed = attempts(from: 0, until: 0.5) { session, generation, now in
      session.granted(generation, at: now)
      session.activationFailed(generation, at: now)
    }
    #expect(failed == [0])
    #expect(tick(1) == .prepare(2))
    session.granted(2, at: .seconds(1))
    session.activated(2, limit: .seconds(20), requested: .start, at: .seconds(5))
    #expect(tick(17.9) == .send(2))
    #expect(tick(18) == .prepare(3))
    for _ in 0..<30 { session.answered(2) }
    #expect(tick(19.9) == .send(2))
    #expect(tick(20) == .skip)
    #expect(session.inUse == nil)
  }

  @Test("when a test that has lasted is refused (RE01), then another is requested at once")
  mutating func refused() {
    let first = obtain(at: 0)
    #expect(tick(100) == .send(first))
    session.refused(first)
    #expect(tick(100.1) == .prepare(first + 1))
    #expect(session.inUse == nil)
  }

  @Test("when every new test is refused, even after some answers, then requests become rare")
  mutating func refusedAgainAndAgain() {
    let times = attempts(from: 0, until: 600) { session, generation, now in
      session.activated(generation, limit: nil, at: now)
      session.answered(generation)
      session.refused(generation)
    }
    #expect((10...18).contains(times.count), "\(times)")
  }

  @Test("when a test is refused while another is prepared, then no ping is sent until the other is active")
  mutating func refusedWhilePreparing() {
    let first = obtain(at: 0)
    session.filled(first)
    #expect(tick(21) == .prepare(2))
    #expect(tick(21.1) == .send(first))
    session.refused(first)
    #expect(tick(21.2) == .skip)
    session.activated(2, limit: nil, at: .seconds(22))
    #expect(tick(22) == .send(2))
  }

  // MARK: Recovery

  @Test("when 30 pings in a row fail, then another test is requested while the old one goes on")
  mutating func recovery() {
    let first = obtain(at: 0)
    for _ in 0..<29 { session.failed(first) }
    #expect(tick(3) == .send(first))
    session.failed(first)
    #expect(tick(3.1) == .prepare(2))
    #expect(tick(3.2) == .send(first))
    session.requestFailed(2, at: .seconds(4))
    #expect(tick(4) == .send(first))
    #expect(session.inUse == first)
  }

  @Test("when no recovery helps, then recoveries are 10, 20, 40, 80, 120 and 120 s apart")
  mutating func recoveryLadder() {
    let first = obtain(at: 0)
    var times: [Double] = []
    for tenth in 1...5000 {
      session.failed(first)
      let now = Double(tenth) / 10
      if case .prepare(let generation) = tick(now) {
        times.append(now)
        session.requestFailed(generation, at: .seconds(now))
      }
    }
    #expect(times == [3, 13, 33, 73, 153, 273, 393])
  }

  @Test("when a ping is answered, then the failures before it are forgotten")
  mutating func recovered() {
    let first = obtain(at: 0)
    for _ in 0..<29 { session.failed(first) }
    session.answered(first)
    session.failed(first)
    #expect(tick(3) == .send(first))
  }

  @Test("when a ping is answered before a due recovery may begin, then the recovery is cancelled")
  mutating func recoveryIsCancelled() {
    let first = obtain(at: 0)
    for _ in 0..<30 { session.failed(first) }
    #expect(tick(3) == .prepare(2))
    session.requestFailed(2, at: .seconds(3))
    session.answered(first)
    #expect(attempts(from: 3.1, until: 60) { _, _, _ in }.isEmpty)
  }

  @Test("when pings of an earlier test fail, then they do not count")
  mutating func formerPings() {
    let first = obtain(at: 0, limit: .seconds(10))
    let second = obtain(at: 10)
    for _ in 0..<40 { session.failed(first) }
    session.refused(first)
    #expect(tick(11) == .send(second))
  }

  // MARK: Changes of the link

  @Test("when the path is Wi-Fi, then nothing is sent or requested, and afterwards no earlier test is used")
  mutating func wifi() {
    #expect(tick(0, path: .wifi) == .skip)
    let first = obtain(at: 1)
    #expect(tick(2) == .send(first))
    #expect(tick(3, path: .wifi) == .skip)
    #expect(session.inUse == nil)
    for _ in 0..<40 { session.failed(first) }
    #expect(tick(4, path: .offline) == .prepare(2), "no path is not Wi-Fi")
    #expect(tick(4.1, path: .offline) == .skip, "the test from before is not used")
    session.activated(2, limit: nil, at: .seconds(5))
    #expect(tick(5) == .send(2))
  }

  @Test("when Wi-Fi comes and goes while a test is prepared, then its answer changes nothing, and another is requested")
  mutating func wifiWhilePreparing() {
    #expect(tick(0) == .prepare(1))
    #expect(tick(1, path: .wifi) == .skip)
    #expect(!session.awaits(1))
    session.granted(1, at: .seconds(1.5))
    session.activated(1, limit: nil, at: .seconds(2))
    #expect(session.inUse == nil)
    #expect(tick(3) == .prepare(2))
    #expect(!session.mayUse(requestedFor: 1), "stored or not")
    #expect(session.mayUse(requestedFor: 2))
  }

  @Test(
    "when Wi-Fi comes and goes after a time without network, then a test is requested at once, even after failures",
    arguments: [Path.cellular, .offline])
  mutating func backOverWiFi(next: Path) {
    let failed = attempts(from: 0, until: 100, path: .offline) { $0.requestFailed($1, at: $2) }
    #expect(failed.last == 63, "the next request would be due at 123")
    #expect(tick(100.1, path: .wifi) == .skip)
    #expect(tick(101, path: next) == .prepare(failed.count + 1))
  }

  @Test("when Wi-Fi comes and goes while a request hangs without network, then another is made at once")
  mutating func backOverWiFiWhileAsking() {
    #expect(tick(0, path: .offline) == .prepare(1))
    #expect(tick(60, path: .offline) == .skip)
    #expect(tick(61, path: .wifi) == .skip)
    #expect(tick(62) == .prepare(2))
  }

  @Test("when pings could not begin on the previous link, then its waits do not count on the next one")
  mutating func activationOnAnotherLink() {
    _ = attempts(from: 0, until: 40) { $0.activationFailed($1, at: $2) }
    #expect(tick(40.1) == .skip, "the next request would be due at 71")
    session.linkChanged(at: .seconds(41))
    let times = attempts(from: 41, until: 45) { $0.activationFailed($1, at: $2) }
    #expect(times == [41, 42])
  }

  @Test("when the link or the address changes, then no more pings are sent on the previous test")
  mutating func otherLink() {
    let first = obtain(at: 0)
    #expect(tick(100) == .send(first))
    session.linkChanged(at: .seconds(100.1))
    #expect(session.inUse == nil)
    #expect(tick(100.1) == .prepare(2))
    session.linkChanged(at: .seconds(100.2))
    session.activated(2, limit: nil, at: .seconds(100.3))
    #expect(session.inUse == nil, "requested by the previous link")
    #expect(!session.mayUse(requestedFor: 2))
  }

  @Test("when the network goes and comes back, then the same test is used all the time")
  mutating func sameLink() {
    let first = obtain(at: 0)
    #expect(tick(1, path: .offline) == .send(first))
    #expect(tick(2) == .send(first))
    #expect(session.mayUse(requestedFor: first))
  }

  @Test("when a link flaps, then requests are further and further apart, up to 10 s, until a link has lasted")
  mutating func flapping() {
    var times: [Double] = []
    for second in 0..<60 {
      let now = Double(second)
      if case .prepare(let generation) = tick(now) {
        times.append(now)
        session.activated(generation, limit: nil, at: .seconds(now))
      }
      _ = tick(now + 0.5, path: .wifi)
    }
    #expect(times == [0, 1, 2, 4, 8, 16, 26, 36, 46, 56])
    #expect(tick(66) == .prepare(times.count + 1))
    session.activated(times.count + 1, limit: nil, at: .seconds(66))
    #expect(tick(130, path: .wifi) == .skip)
    #expect(tick(131) == .prepare(times.count + 2))
    #expect(tick(131.1, path: .wifi) == .skip)
    #expect(tick(132) == .prepare(times.count + 3), "1 s after the last")
  }

  // MARK: Full sessions

  @Test("when a session is full, then another test is requested while the old one goes on")
  mutating func filled() {
    let first = obtain(at: 0)
    session.filled(first)
    #expect(tick(1) == .prepare(2))
    session.filled(first)
    #expect(tick(1.1) == .send(first))
    session.activated(2, limit: nil, at: .seconds(2))
    #expect(tick(2) == .send(2))
    #expect(tick(30) == .send(2))
  }
}
