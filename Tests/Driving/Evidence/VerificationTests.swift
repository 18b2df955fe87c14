import Coverage
import Testing

@testable import Driving

/// A drive log compared with a capture.
struct VerificationTests {
  static let started = WallTime(microseconds: 1_800_000_000_000_000)

  /// A ping each 100 ms with a round-trip time of its own; every 17th is lost.
  static func rtt(_ number: Int) -> Int64? {
    number % 17 == 0 ? nil : 20_000_000 + Int64((number * 7919) % 1000) * 10_000
  }

  static func events(_ count: Int) -> [Event] {
    (0..<count).map { number in
      Event(
        at: DriveTime(microseconds: Int64(number) * 100_000),
        .ping(rtt(number).map { .answered(rttNanoseconds: $0) } ?? .failed(.timeout)))
    }
  }

  /// - Parameter step: How far the wall clock had been set when this ping was sent.
  static func trips(_ count: Int, step: (Int) -> Int64 = { _ in 0 }) -> [RoundTrip] {
    RoundTrips(
      (0..<count).flatMap { number -> [CapturedPacket] in
        let sent = started.microseconds + Int64(number) * 100_000 + 30 + Int64(number % 13) * 50 + step(number)
        let request = captured(sent, Wire.request(UInt32(number)))
        // The capture's stamps are 2 us farther apart than the pinger's.
        return [request] + (rtt(number).map { [captured(sent + $0 / 1000 + 2, Wire.reply(UInt32(number)))] } ?? [])
      }
    ).trips
  }

  @Test("when the capture matches the log, then they agree, and the difference is measured")
  func agreement() {
    let result = Verification(events: Self.events(1000), started: Self.started, trips: Self.trips(1000))
    #expect(result.matched == 1000)
    #expect(result.lostInBoth == 59)
    #expect(result.answeredInBoth == 941)
    #expect(result.disagreements.isEmpty)
    #expect(result.difference?.p99Nanoseconds == 2000)
    #expect(result.agrees)
    let strict = Verification(
      events: Self.events(1000), started: Self.started, trips: Self.trips(1000), limit: .microseconds(1))
    #expect(!strict.agrees)
  }

  @Test(
    "when a single round-trip time differs, then 1 ms is allowed, or the limit where that is more",
    arguments: [(900, 50, true), (1100, 50, false), (3000, 50, false), (3000, 20_000, true), (21_000, 20_000, false)])
  func singleDifference(microseconds: Int64, limit: Int64, agrees: Bool) {
    var trips = Self.trips(1000)
    let request = trips[500]
    trips[500] =
      RoundTrips([
        captured(request.sentAt / 1000, Wire.request(500)),
        captured(request.sentAt / 1000 + (request.rttNanoseconds ?? 0) / 1000 + microseconds, Wire.reply(500)),
      ]).trips[0]
    let result = Verification(
      events: Self.events(1000), started: Self.started, trips: trips, limit: .microseconds(limit))
    #expect(result.difference?.maximumNanoseconds == (microseconds + 2) * 1000)
    #expect(result.count(.roundTripDiffers) == (agrees ? 0 : 1))
    #expect(result.agrees == agrees)
  }

  @Test("when the target's host refused a ping by ICMP, then its packet in the capture contradicts nothing")
  func closedPort() {
    var events = Self.events(1000)
    events[17] = Event(at: events[17].at, .ping(.unsent()))
    let sequences = Dictionary(uniqueKeysWithValues: (0..<1000).map { ($0, UInt32($0)) })
    let result = Verification(events: events, sequences: sequences, started: Self.started, trips: Self.trips(1000))
    #expect(result.disagreements.isEmpty && result.agrees)
    #expect(result.notSent == 1 && result.lostInBoth == 58)
  }

  @Test(
    "when the wall clock is set, then the pings still match",
    arguments: [-8_000, 40_000, 95_000, 270_000, 3_000_000, 30_000_037])
  func clockStep(microseconds: Int64) {
    for first in [0, 500] {
      let trips = Self.trips(1000) { $0 >= first ? microseconds : 0 }
      let result = Verification(events: Self.events(1000), started: Self.started, trips: trips)
      #expect(result.matched == 1000, "\(microseconds) from \(first) on")
      #expect(result.difference?.maximumNanoseconds == 2000)
      #expect(result.agrees)
    }
  }

  @Test("when log and capture differ about a ping, then the difference is reported with its time")
  func losses() {
    var events = Self.events(100)
    events[20] = Event(at: events[20].at, .ping(.failed(.timeout)))
    events[34] = Event(at: events[34].at, .ping(.answered(rttNanoseconds: 1_000_000)))
    var trips = Self.trips(100)
    trips.remove(at: 50)
    events.remove(at: 60)
    events[10] = Event(at: events[10].at, .ping(.failed(.network)))
    trips.remove(at: 10)
    let result = Verification(events: events, started: Self.started, trips: trips)
    let seen = result.disagreements.map { "\($0.at.microseconds / 100_000) \($0.kind.rawValue)" }
    #expect(
      seen == [
        "20 answered in the capture, not in the log", "34 answered in the log, not in the capture",
        "50 in the log, not in the capture", "60 in the capture, not in the log",
      ])
    #expect(result.notSent == 1)
    #expect(!result.agrees)
  }

  @Test("when a reply comes after the timeout, then the ping is lost in both")
  func late() {
    let events = [Event(at: .start, .ping(.failed(.timeout)))]
    let start = Self.started.microseconds
    let trips = RoundTrips([captured(start, Wire.request(1)), captured(start + 1_200_000, Wire.reply(1))]).trips
    #expect(Verification(events: events, started: Self.started, trips: trips).lostInBoth == 1)
  }

  @Test("when pings are refused, then the log need not have them")
  func refusals() {
    let start = Self.started.microseconds
    let refused = RoundTrips([
      captured(start + 50_000, Wire.request(9999)), captured(start + 51_000, Wire.reply(9999, "RE01")),
    ])
    let result = Verification(
      events: Self.events(10), started: Self.started,
      trips: (Self.trips(10) + refused.trips).sorted { $0.sentAt < $1.sentAt })
    #expect(result.refused == 1)
    #expect(result.disagreements.isEmpty)
  }

  @Test("when the machine was busy, then pings that were sent late still match")
  func lateSending() {
    let trips = Self.trips(1000) { $0 % 3 == 0 ? 80_000 : $0 % 3 == 1 ? 40_000 : 0 }
    let result = Verification(events: Self.events(1000), started: Self.started, trips: trips)
    #expect(result.matched == 1000)
    #expect(result.agrees)
  }

  @Test("when the older files are gone, then the later pings still match")
  func gone() {
    let result = Verification(
      events: Self.events(5000), started: Self.started, trips: Array(Self.trips(5000).dropFirst(4000)))
    #expect(result.matched == 1000)
    #expect(result.count(.onlyInLog) == 4000)
    #expect(result.difference?.maximumNanoseconds == 2000)
  }

  @Test("when the capture is empty, then log and capture do not agree")
  func nothing() {
    #expect(!Verification(events: [], started: Self.started, trips: []).agrees)
    #expect(!Verification(events: Self.events(3), started: Self.started, trips: []).agrees)
  }

  // MARK: Numbers on the wire

  static func sequences(_ count: Int) -> [Int: UInt32] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, UInt32($0)) })
  }

  @Test("when the log has the numbers on the wire, then pings match by them, despite steps of the wall clock")
  func numbers() {
    let trips = Self.trips(1000) { [3_000, -7_000_000, 86_400_000_000, 300_000][$0 / 250] }
    // The log notices each step up to a second late.
    let steps = [(25.9, -7.0), (50.1, 86_407), (75.4, -86_400)].map { at, step in
      Event(at: .seconds(at), .clockSet(by: .seconds(step)))
    }
    func verify(_ steps: [Event]) -> Verification {
      Verification(
        events: Self.events(1000) + steps, sequences: Self.sequences(1000), started: Self.started, trips: trips)
    }
    let result = verify(steps)
    #expect(result.matched == 1000)
    #expect(result.difference?.maximumNanoseconds == 2000)
    #expect(result.agrees, "\(result.lines)")
    #expect(verify([]).count(.sentAtAnotherTime) == 500, "nothing in the log explains the steps")
  }

  @Test(
    "when the host's clock stepped and the drive did not follow it, then the log's notes explain the captured times")
  func contradictedSteps() {
    let trips = Self.trips(1000) { [3_000, 86_400_000_000, 300_000_000, 300_000_000][$0 / 250] }
    func verify(_ leads: [(Double, Double)], _ steps: [Event] = []) -> Verification {
      Verification(
        events: Self.events(1000) + steps, sequences: Self.sequences(1000), started: Self.started, trips: trips,
        hostLeads: leads.map { (.seconds($0), .seconds($1)) })
    }
    let result = verify([(0, 0), (25.9, 86_400), (50.2, 300)])
    #expect(result.agrees, "\(result.lines)")
    // In the end the drive follows the clock.
    let followed = verify(
      [(0, 0), (25.9, 86_400), (50.2, 300), (75.3, 0)], [Event(at: .seconds(75.3), .clockSet(by: .seconds(300)))])
    #expect(followed.agrees, "\(followed.lines)")
    #expect(verify([(0, 0)]).count(.sentAtAnotherTime) == 750)
  }

  @Test("when a log was moved in time, or its second half was cut out, then the two differ")
  func movedOrCut() {
    let trips = Self.trips(1000)
    let moved = Verification(
      events: Self.events(1000).map { Event(at: $0.at + .seconds(5), $0.kind) }, sequences: Self.sequences(1000),
      started: Self.started, trips: trips)
    #expect(moved.count(.sentAtAnotherTime) == 1000 && !moved.agrees)
    let later = Verification(
      events: Self.events(1000), sequences: Self.sequences(1000),
      started: WallTime(microseconds: Self.started.microseconds + 3_600_000_000), trips: trips)
    #expect(!later.agrees)
    let cut = Verification(
      events: Self.events(500) + [Event(at: .seconds(100), .stop(.user))], sequences: Self.sequences(500),
      started: Self.started, trips: trips)
    #expect(cut.count(.onlyInCapture) >= 480 && !cut.agrees)
  }

  @Test("when a ping was not sent, then the log has no number for it, and no other ping matches it")
  func notSentHasNoNumber() {
    var events = Self.events(100)
    var sequences = Self.sequences(100)
    events[40] = Event(at: events[40].at, .ping(.failed(.network)))
    sequences[40] = nil
    let trips = Self.trips(100).filter { $0.key.sequence != 40 }
    let result = Verification(events: events, sequences: sequences, started: Self.started, trips: trips)
    #expect(result.notSent == 1)
    #expect(result.matched == 99)
    #expect(result.agrees)
  }

  @Test("when the capture has another drive with the same numbers, then the pings nearest in time match")
  func twoDrives() {
    let other = Self.trips(100) { _ in -3_600_000_000 }
    let result = Verification(
      events: Self.events(100), sequences: Self.sequences(100), started: Self.started, trips: other + Self.trips(100))
    #expect(result.matched == 100)
    #expect(result.notCovered == 100)
    #expect(result.agrees, "\(result.lines)")
  }

  // MARK: Logs that were tampered with

  @Test("when one round-trip time of a thousand was altered, then the two differ, though the percentiles agree")
  func oneAltered() {
    var events = Self.events(1000)
    events[500] = Event(at: events[500].at, .ping(.answered(rttNanoseconds: (Self.rtt(500) ?? 0) - 5_000_000)))
    let result = Verification(
      events: events, sequences: Self.sequences(1000), started: Self.started, trips: Self.trips(1000))
    #expect(result.disagreements == [.init(at: events[500].at, kind: .roundTripDiffers)])
    #expect(result.difference?.p99Nanoseconds == 2000)
    #expect(!result.agrees)
  }

  @Test("when a lost ping was changed to an answered one, or removed from the log, then the two differ")
  func lossesHidden() {
    var events = Self.events(100)
    var sequences = Self.sequences(100)
    events[34] = Event(at: events[34].at, .ping(.answered(rttNanoseconds: 20_000_000)))
    let brightened = Verification(events: events, sequences: sequences, started: Self.started, trips: Self.trips(100))
    #expect(brightened.disagreements == [.init(at: events[34].at, kind: .answeredOnlyInLog)])
    #expect(!brightened.agrees)

    events = Self.events(100)
    events[34] = Event(at: events[34].at, .radio(nil))
    sequences[34] = nil
    let shortened = Verification(events: events, sequences: sequences, started: Self.started, trips: Self.trips(100))
    #expect(shortened.disagreements.map(\.kind) == [.onlyInCapture])
    #expect(!shortened.agrees)
  }

  @Test("when pings were under way at the end of the log, then the log need not have them")
  func underWay() {
    let result = Verification(
      events: Self.events(100), sequences: Self.sequences(100), started: Self.started, trips: Self.trips(109))
    #expect(result.notCovered == 9)
    #expect(result.agrees, "\(result.lines)")
  }

  @Test("when a refusal comes after the timeout, then the ping is lost in both")
  func lateRefusal() {
    let events = [Event(at: .start, .ping(.failed(.timeout)))]
    let start = Self.started.microseconds
    let trips = RoundTrips([captured(start, Wire.request(1)), captured(start + 1_200_000, Wire.reply(1, "RE01"))]).trips
    let result = Verification(events: events, sequences: [0: 1], started: Self.started, trips: trips)
    #expect(result.lostInBoth == 1)
    #expect(result.refused == 0)
  }

  @Test("when the capture was cut off, then it need not have the last seconds of the log, but all earlier pings")
  func cutOff() {
    func verify(captured: Int, isCutOff: Bool) -> Verification {
      Verification(
        events: Self.events(100), sequences: Self.sequences(100), started: Self.started, trips: Self.trips(captured),
        isCutOff: isCutOff)
    }
    let killed = verify(captured: 95, isCutOff: true)
    #expect(killed.notCaptured == 5)
    #expect(killed.agrees, "\(killed.lines)")
    #expect(!verify(captured: 95, isCutOff: false).agrees)
    #expect(!verify(captured: 40, isCutOff: true).agrees)
  }

  @Test(
    "when captured pings or the drive are at the end of 64 bits of nanoseconds, then nothing overflows",
    arguments: [Int64.max, .max - 1, 0] as [Int64],
    [Int64.max, 9_223_372_036_854_000, 1_800_000_000_000_000, .min] as [Int64])
  func endOfTime(stamp: Int64, started: Int64) {
    let packets = (0..<20).map { number in
      CapturedPacket(
        stamp: stamp.saturatingSubtracting(Int64(number) * 100_000_000), linkType: 101,
        bytes: Bytes(Wire.request(UInt32(number))))
    }
    let trips = RoundTrips(packets).trips
    for sequences in [[:], Self.sequences(20)] {
      let result = Verification(
        events: Self.events(20), sequences: sequences, started: WallTime(microseconds: started), trips: trips)
      let accountedFor = result.matched + result.notCovered + result.count(.onlyInCapture)
      #expect(accountedFor == trips.count, "\(result.lines)")
    }
  }
}
