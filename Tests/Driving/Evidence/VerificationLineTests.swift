import Coverage
import TestSupport
import Testing

@testable import Driving

/// The result of a comparison in lines, and pings whose two measurements are at a limit.
struct VerificationLineTests {
  private static let started = VerificationTests.started

  /// A captured ping with this number, sent a tenth of a second after the one before.
  private static func trip(_ number: Int, answeredAfter microseconds: Int64?, refused: Bool = false) -> [RoundTrip] {
    let sent = started.microseconds + Int64(number) * 100_000
    let reply = microseconds.map {
      captured(sent + $0, Wire.reply(UInt32(truncatingIfNeeded: number), refused ? "RE01" : "RR01"))
    }
    return RoundTrips([captured(sent, Wire.request(UInt32(truncatingIfNeeded: number)))] + (reply.map { [$0] } ?? []))
      .trips
  }

  private static func event(_ number: Int, _ outcome: PingOutcome) -> Event {
    Event(at: DriveTime(microseconds: Int64(number) * 100_000), .ping(outcome))
  }

  /// One ping of the log beside one of the capture.
  private func one(_ outcome: PingOutcome, _ trips: [RoundTrip], timeout: Duration = .seconds(1)) -> Verification {
    Verification(
      events: [Self.event(0, outcome)], sequences: [0: 0], started: Self.started, trips: trips, timeout: timeout)
  }

  @Test("when log and capture agree, then three lines have the counts and the differences in microseconds")
  func agreement() {
    let outcomes: [PingOutcome] = [
      .answered(rttNanoseconds: 20_000_000), .answered(rttNanoseconds: 20_000_000), .failed(.timeout),
    ]
    let result = Verification(
      events: outcomes.enumerated().map { Self.event($0.offset, $0.element) }, sequences: [0: 0, 1: 1, 2: 2],
      started: Self.started,
      trips: Self.trip(0, answeredAfter: 20_001) + Self.trip(1, answeredAfter: 20_012)
        + Self.trip(2, answeredAfter: nil))
    #expect(
      result.lines == [
        "3 pings in both: 2 answered in both, 1 lost in both",
        "0 not sent, 0 refused, 0 captured outside of the time that the log covers",
        "round-trip times differ by p50 1.0, p99 12.0, max 12.0 µs",
      ])
  }

  @Test("when pings differ, then each kind has one line with its number and the time of its first ping")
  func disagreements() {
    let outcomes: [PingOutcome] = Array(repeating: .failed(.timeout), count: 3) + [.answered(rttNanoseconds: 5_000_000)]
    let result = Verification(
      events: outcomes.enumerated().map { Self.event($0.offset, $0.element) },
      sequences: [0: 0, 1: 1, 2: 2, 3: 3], started: Self.started,
      trips: Self.trip(0, answeredAfter: nil) + Self.trip(1, answeredAfter: 9000) + Self.trip(2, answeredAfter: 9000)
        + Self.trip(3, answeredAfter: nil))
    #expect(
      result.lines.dropFirst(2) == [
        "1 ping answered in the log, not in the capture, the first at 0.3 s",
        "2 pings answered in the capture, not in the log, the first at 0.1 s",
      ])
    #expect(result.difference == nil, "no ping was answered in both")
  }

  @Test("when the capture is cut off, then one line counts the pings after its end")
  func cutOff() {
    let result = Verification(
      events: (0..<3).map { Self.event($0, .failed(.timeout)) }, sequences: [0: 0, 1: 1, 2: 2], started: Self.started,
      trips: Self.trip(0, answeredAfter: nil), isCutOff: true)
    #expect(result.lines[2] == "2 at the end of the log, where the capture is cut off")
    #expect(result.agrees)
  }

  @Test("when every ping was lost in both, then the two agree without a round-trip time")
  func allLost() {
    let result = one(.failed(.timeout), Self.trip(0, answeredAfter: nil))
    #expect(result.agrees && result.difference == nil)
  }

  @Test(
    "when a reply is within 1 ms of the timeout, then it may be in time by one stamp and late by the other",
    arguments: [
      (PingOutcome.failed(.timeout), 998_999, Verification.Disagreement.Kind.answeredOnlyInCapture),
      (.failed(.timeout), 999_000, nil), (.failed(.timeout), 1_000_001, nil),
      (.answered(rttNanoseconds: 1_000_000_000), 1_001_000, nil),
      (.answered(rttNanoseconds: 1_000_000_000), 1_001_001, .answeredOnlyInLog),
    ] as [(PingOutcome, Int64, Verification.Disagreement.Kind?)])
  func edgeOfTimeout(outcome: PingOutcome, microseconds: Int64, expected: Verification.Disagreement.Kind?) {
    let result = one(outcome, Self.trip(0, answeredAfter: microseconds))
    #expect(result.disagreements.map(\.kind) == (expected.map { [$0] } ?? []))
  }

  @Test("when the log has a network failure of a ping, then a captured request without a reply confirms it")
  func networkFailure() {
    #expect(one(.failed(.network), Self.trip(0, answeredAfter: nil)).lostInBoth == 1)
    #expect(one(.failed(.network), Self.trip(0, answeredAfter: 5000)).count(.answeredOnlyInCapture) == 1)
    #expect(one(.failed(.network), []).notSent == 1)
  }

  @Test("when a ping was refused at the timeout, then it counts as refused; later, it stays lost")
  func refusedAtTimeout() {
    let at = one(.failed(.timeout), Self.trip(0, answeredAfter: 1_000_000, refused: true))
    #expect((at.refused, at.lostInBoth, at.count(.onlyInLog)) == (1, 0, 1))
    let late = one(.failed(.timeout), Self.trip(0, answeredAfter: 1_000_001, refused: true))
    #expect((late.refused, late.lostInBoth) == (0, 1))
  }

  @Test("when captured pings are from before the drive, then the log need not have them")
  func beforeTheDrive() {
    let result = one(
      .failed(.timeout), Self.trip(-3, answeredAfter: nil).map { $0 } + Self.trip(0, answeredAfter: nil))
    #expect((result.matched, result.notCovered) == (1, 1))
    #expect(result.agrees, "\(result.lines)")
  }

  @Test("when percentiles are taken, then they are by nearest rank")
  func percentiles() throws {
    let sorted = (1...200).map(Int64.init)
    let difference = try #require(Verification.Difference(sorted))
    #expect((difference.count, difference.p50Nanoseconds, difference.p99Nanoseconds) == (200, 100, 198))
    #expect(difference.maximumNanoseconds == 200)
    #expect(Verification.Difference([]) == nil)
  }
}
