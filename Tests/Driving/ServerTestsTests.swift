import Coverage
import Pinging
import TestSupport
import Testing

@testable import Driving

/// The request for a test that is under way, and the test that waits for its use.
struct ServerTestsTests {
  private var tests = ServerTests(RecoveryPolicy(), loopUUID: "L")
  private let clock = DriveClock(DriveRig.reading(), now: (DriveRig.startedBoot, .now))

  private mutating func prepare(at now: DriveTime) -> [DriveEffect] {
    guard case .prepare(let generation) = tests.session.tick(at: now, path: .cellular) else { return [] }
    return tests.ask(for: generation, by: clock, at: now)
  }

  private func grant(_ test: String = "T", generation: Int = 1, _ members: String = "") throws -> GrantedTest {
    GrantedTest(
      coverage: try .sample(test, members), generation: generation, requested: .start, requestTime: .sampleStart)
  }

  private func lines(_ effects: [DriveEffect]) -> [String] {
    effects.compactMap { if case .log(_, let line, _) = $0 { line } else { nil } }
  }

  @Test("when a test is requested, then the request has the loop, and the time in whole milliseconds")
  mutating func request() {
    let now = DriveTime(microseconds: 1_234_567)
    let effects = prepare(at: now)
    let wanted = TestRequest(
      generation: 1, at: DriveTime(microseconds: 1_234_000), started: .sampleStart, loopUUID: "L")
    #expect(effects == [.requestTest(wanted)])
    #expect(wanted.time == .sampleStart.later(by: .milliseconds(1234)))
  }

  @Test("when a loop is known, then a test without a loop does not change it")
  mutating func loop() {
    tests.follow(nil)
    #expect(tests.loopUUID == "L")
    tests.follow("M")
    #expect(tests.loopUUID == "M")
  }

  @Test("when a request is replaced exactly at its timeout, then the server counts as not answering")
  mutating func replacedInTime() {
    _ = tests.ask(for: 1, by: clock, at: .start)
    let effects = tests.ask(for: 2, by: clock, at: .seconds(15))
    #expect(lines(effects).count == 1)
    #expect(tests.trouble?.reason == "the control server has not answered within 15s")
  }

  @Test("when a request is replaced before its timeout, then it is cancelled without a line; after it, with one")
  mutating func replaced() {
    _ = tests.ask(for: 1, by: clock, at: .start)
    let soon = tests.ask(for: 2, by: clock, at: .seconds(14.9))
    #expect(soon.first == .cancelRequest && soon.count == 2)
    #expect(tests.trouble == nil)
    let late = tests.ask(for: 3, by: clock, at: .seconds(30))
    #expect(late.first == .cancelRequest)
    #expect(
      lines(late) == ["the control server has not answered within 15s; the drive goes on, trying again"])
    #expect(tests.trouble?.reason == "the control server has not answered within 15s")
  }

  @Test("when a failure is of an earlier request, then it is not logged")
  mutating func stale() {
    _ = prepare(at: .start)
    _ = tests.ask(for: 2, by: clock, at: .seconds(1))
    #expect(tests.failed(TestTrouble("busy"), 1, at: .seconds(2)) == [])
    #expect(tests.lastTrouble == nil)
    #expect(lines(tests.failed(TestTrouble("busy"), 2, at: .seconds(2))).count == 1)
    #expect(tests.lastTrouble == "busy")
    #expect(tests.ask(for: 3, by: clock, at: .seconds(3)).count == 1, "there is no request to cancel")
  }

  @Test("when a test waits for its use, then it is dropped once it is too old or of another link")
  mutating func unused() throws {
    _ = prepare(at: .start)
    tests.unused = try grant("T", generation: 1, "\"max_coverage_measurement_seconds\": 60")
    #expect(tests.usable(at: .seconds(59)) != nil)
    #expect(tests.usable(at: .seconds(60)) == nil)
    #expect(tests.unused == nil)
    tests.unused = try grant()
    tests.session.linkChanged(at: .seconds(61))
    #expect(tests.usable(at: .seconds(61)) == nil)
  }

  @Test("when pings begin, then earlier troubles are over, and the next one is logged again")
  mutating func began() throws {
    _ = prepare(at: .start)
    #expect(lines(tests.failed(TestTrouble("busy"), 1, at: .seconds(1))).count == 1)
    _ = prepare(at: .seconds(5))
    let granted = try grant("T", generation: 2)
    #expect(tests.answered(granted, 2, pinging: nil) == [])
    tests.unused = granted
    tests.session.granted(2, at: .seconds(6))
    let target = PingTarget(address: try .sample(), echo: .icmp)
    tests.began(PingStart(target: target, grant: granted, generation: 2, firstSlot: 0), at: .seconds(6))
    #expect(tests.trouble == nil && tests.lastTrouble == nil && tests.unused == nil)
    #expect(tests.session.inUse == 2)
    _ = tests.ask(for: 3, by: clock, at: .seconds(7))
    #expect(lines(tests.failed(TestTrouble("busy"), 3, at: .seconds(8))).count == 1)
  }

  @Test(
    "when a ping of the test in use is answered, then the refusal is over; another test's answer changes nothing"
  )
  mutating func answered() throws {
    _ = prepare(at: .start)
    let granted = try grant()
    tests.session.granted(1, at: .start)
    let target = PingTarget(address: try .sample(), echo: .icmp)
    tests.began(PingStart(target: target, grant: granted, generation: 1, firstSlot: 0), at: .start)
    #expect(tests.refused(9) == [] && !tests.isRefused)
    #expect(lines(tests.refused(1)) == ["the ping server refuses the token (RE01)"])
    #expect(tests.isRefused)
    tests.count(.answered(rttNanoseconds: 1, isKernelStamped: true), of: 9)
    #expect(tests.isRefused)
    tests.count(.failed(.timeout), of: 1)
    #expect(tests.isRefused)
    tests.count(.answered(rttNanoseconds: 1, isKernelStamped: true), of: 1)
    #expect(!tests.isRefused && tests.trouble == nil)
  }

  @Test("when pings use another IP family than the token's, then that is logged once; otherwise it is not logged")
  mutating func oddity() throws {
    let six = try grant("T", generation: 1, "\"ip_version\": 6")
    #expect(tests.answered(six, 1, pinging: .ipv6) == [] && tests.answered(six, 1, pinging: nil) == [])
    #expect(tests.answered(six, 1, pinging: .ipv4).count == 1)
    #expect(tests.answered(six, 1, pinging: .ipv4) == [])
  }
}
