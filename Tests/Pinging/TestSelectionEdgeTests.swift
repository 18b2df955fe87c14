import Coverage
import TestSupport
import Testing

@testable import Pinging

/// Cases in which two rules of docs/protocol.md, 2, apply at the same time.
struct TestSelectionEdgeTests {
  private var session = TestSelection()

  private mutating func tick(_ seconds: Double, path: Path = .cellular) -> TestSelection.Decision {
    session.tick(at: .seconds(seconds), path: path)
  }

  /// A test that is requested and activated at this time.
  private mutating func obtain(at seconds: Double, limit: Duration? = nil) throws -> Int {
    guard case .prepare(let generation) = tick(seconds) else {
      throw NoTest(seconds: seconds)
    }
    session.activated(generation, limit: limit, at: .seconds(seconds))
    return generation
  }

  private struct NoTest: Error { let seconds: Double }

  @Test("when the request for a full session's successor fails, then it is repeated after the wait of 10 s")
  mutating func filledAgain() throws {
    let first = try obtain(at: 0)
    session.filled(first)
    #expect(tick(1) == .prepare(2))
    session.requestFailed(2, at: .seconds(2))
    #expect(tick(10.9) == .send(first))
    #expect(tick(11) == .prepare(3), "10 s after the last one, though no ping failed")
  }

  @Test("when pings answer while the successor of a full session waits, then the session is still replaced")
  mutating func filledAndAnswered() throws {
    let first = try obtain(at: 0)
    session.filled(first)
    #expect(tick(1) == .prepare(2))
    session.answered(first)
    session.requestFailed(2, at: .seconds(2))
    session.answered(first)
    #expect(tick(30) == .prepare(3))
  }

  @Test("when the network does not carry a silent test's pings any more, then its use ends; that of a full one goes on")
  mutating func silentEnds() throws {
    let first = try obtain(at: 0)
    for _ in 0..<30 { session.failed(first) }
    #expect(tick(3) == .prepare(2) && session.inUse == first)
    session.granted(2, at: .seconds(3))
    session.endSilent(for: 1)
    #expect(session.inUse == first, "an outdated preparation")
    session.endSilent(for: 2)
    session.activationFailed(2, at: .seconds(4))
    #expect(session.inUse == nil && tick(3.9) == .skip && tick(4) == .prepare(3))
    session.activated(3, limit: nil, at: .seconds(4))
    session.filled(3)
    #expect(tick(20) == .prepare(4))
    session.endSilent(for: 4)
    #expect(session.inUse == 3)
  }

  @Test("when an earlier test is reported as full, then the test in use is not replaced")
  mutating func formerFilled() throws {
    let first = try obtain(at: 0, limit: .seconds(10))
    let second = try obtain(at: 10)
    session.filled(first)
    session.filled(second + 1)
    #expect(tick(60) == .send(second))
  }

  @Test("when pings fail during a preparation, then they count for the next one, unless its test begins")
  mutating func failuresWhilePreparing() throws {
    let first = try obtain(at: 0)
    session.filled(first)
    #expect(tick(20) == .prepare(2))
    for _ in 0..<40 { session.failed(first) }
    session.activated(2, limit: nil, at: .seconds(21))
    #expect(tick(60) == .send(2), "the new test begins without failures")
  }

  @Test("when the old test expires during a preparation, then no ping is sent until the new one begins")
  mutating func expiresWhilePreparing() throws {
    let first = try obtain(at: 0, limit: .seconds(30))
    session.filled(first)
    #expect(tick(20) == .prepare(2))
    for _ in 0..<30 { session.answered(first) }
    #expect(tick(29.9) == .send(first))
    #expect(tick(30) == .skip)
    #expect(session.inUse == nil && session.awaits(2))
    session.requestFailed(2, at: .seconds(31))
    #expect(tick(31) == .prepare(3), "nothing is left to send with, so the next request is due at once")
  }

  @Test("when the end of a test is near, then another one is requested, and pings go on with the old one")
  mutating func renewsEarly() throws {
    let first = try obtain(at: 0, limit: .seconds(60))
    #expect(tick(53.9) == .send(first))
    #expect(tick(54) == .prepare(2), "a tenth of its time before its end")
    session.requestFailed(2, at: .seconds(55))
    #expect(tick(55) == .send(first))
    for _ in 0..<30 { session.answered(first) }
    #expect(tick(59.9) == .send(first))
    #expect(tick(60) == .prepare(3), "at its end")
    #expect(session.inUse == nil && session.hasEnded)
    session.activated(3, limit: nil, at: .seconds(61))
    #expect(!session.hasEnded)
    #expect(tick(60 + 4 * 3600 - 120 - 31) == .send(3))
    #expect(tick(60 + 4 * 3600 - 120 - 30) == .prepare(4), "half a minute before the end of a long one")
  }

  @Test("when a test ends while its pings are lost, then it stays in use until one is answered, or its token expires")
  mutating func endsInDeadZone() throws {
    let first = try obtain(at: 0, limit: .seconds(30))
    #expect(tick(27) == .prepare(2))
    session.failed(first)
    session.requestFailed(2, at: .seconds(29))
    #expect(tick(30) == .send(first))
    for second in 31..<200 { if case .skip = tick(Double(second)) { Issue.record("no ping at \(second) s") } }
    for number in 1...30 {
      #expect(session.inUse == first, "\(number) answers are no service yet")
      session.answered(first)
      if number < 30 { _ = tick(200) }
    }
    guard case .prepare(let generation) = tick(216) else { throw NoTest(seconds: 216) }
    #expect(session.hasEnded)
    session.activated(generation, limit: .seconds(30), requested: .seconds(216), at: .seconds(217))
    session.failed(generation)
    _ = tick(216 + 4 * 3600 - 121)
    #expect(session.inUse == generation)
    _ = tick(216 + 4 * 3600 - 120)
    #expect(session.inUse == nil && !session.hasEnded, "its pings were lost")
  }

  @Test("when a test has been used for 60 s, then its refusal counts as the first one, and earlier ones are forgotten")
  mutating func proven() throws {
    for start in [0.0, 0.1] {
      let test = try obtain(at: start)
      session.refused(test)
    }
    #expect(tick(0.2) == .skip, "the second refusal in a row waits for 1 s")
    let test = try obtain(at: 1.2)
    #expect(tick(61.1) == .send(test))
    #expect(tick(61.2) == .send(test))
    session.refused(test)
    #expect(tick(61.3) == .prepare(4))
  }

  @Test("when the link changes before any request, then the first request is not delayed")
  mutating func changeBeforeStart() {
    session.linkChanged(at: .seconds(0))
    session.linkChanged(at: .seconds(0.1))
    #expect(tick(0.2) == .prepare(1))
  }

  @Test("when the link changes, then failures, refusals and full sessions of the previous link are forgotten")
  mutating func changeForgets() throws {
    let first = try obtain(at: 0)
    for _ in 0..<40 { session.failed(first) }
    session.filled(first)
    session.refused(first)
    session.linkChanged(at: .seconds(100))
    let second = try obtain(at: 100)
    #expect(tick(100.1) == .send(second))
    #expect(tick(200) == .send(second))
  }

  @Test("when the policy has other values, then its threshold, waits and limits are used")
  mutating func policy() throws {
    var policy = RecoveryPolicy()
    (policy.failureThreshold, policy.backoff, policy.longestSession) = (2, .seconds(3), .seconds(50))
    (policy.prepareTimeout, policy.activationTimeout) = (.seconds(4), .seconds(2))
    session = TestSelection(policy: policy)
    let first = try obtain(at: 0)
    session.failed(first)
    #expect(tick(0.1) == .send(first))
    session.failed(first)
    #expect(tick(0.2) == .prepare(2))
    #expect(tick(4.1) == .send(first))
    #expect(session.awaits(2))
    session.failed(first)
    session.failed(first)
    #expect(tick(4.2) == .prepare(3), "4 s for the request, 3 s between two replacements")
    session.granted(3, at: .seconds(5))
    #expect(tick(6.9) == .send(first))
    #expect(session.awaits(3))
    #expect(tick(7) == .send(first))
    #expect(!session.awaits(3), "2 s to begin")
    #expect(tick(50) == .prepare(4), "50 s are the longest use")
    #expect(session.inUse == nil)
  }
}
