import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterEpochTests {
  @Test func whenReportsHaveEqualTime_thenTheyMakeOneFixAndTheLaterFieldsWin() throws {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1, eph: nil).with { $0.track = 10 }, at: 1)
    _ = filter.apply(.usable(seconds: 1, eph: 10).with { $0.speed = 3 }, at: 1.1)
    let fix = try #require(filter.apply(.usable(seconds: 2), at: 1.2).fixes.first)
    #expect(fix.fix.course == 10)
    #expect(fix.fix.speed == 3)
    #expect(abs((fix.fix.accuracy ?? 0) - 10) < 1e-9)
    #expect(filter.counters.fixes == 1)
  }

  @Test func whenAReceiverIsQuietFor200Milliseconds_thenTheEpochIsHandedOut() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    #expect(filter.nextDeadline == TestTime.at(1.2).instant)
    #expect(filter.advance(to: 1.199).isEmpty)
    let fixes = filter.advance(to: 1.2).fixes
    #expect(fixes.map(\.arrival) == [TestTime.at(1).instant])
    #expect(fixes.map(\.delivered) == [TestTime.at(1.2).instant])
  }

  @Test func whenAReportHasNoTime_thenItJoinsTheEpochThatIsThere() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.apply(.usable(seconds: 1), at: 1.1)
    _ = filter.apply(.usable(), at: 1.2)
    #expect(filter.advance(to: 2).fixes.count == 1)
  }

  @Test func whenNoReportHasATimeAndTheyNeverStop_thenFixesStillCome() {
    var filter = FixFilter.fresh()
    let latitudes = (0..<100).map { 48 + Double($0) / 1e5 }
    let events = filter.play(latitudes.enumerated().map { (Double($0) / 10, TPV.usable(latitude: $1)) })
    #expect(events.fixes.map(\.fix.coordinate?.latitude) == latitudes)
  }

  @Test func whenThePositionImproves_thenItsArrivalIsThatOfTheNewPosition() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1), at: 1)
    _ = filter.apply(.usable(latitude: 48.3, seconds: 1), at: 1.1)
    _ = filter.apply(.usable(latitude: 48.3, seconds: 1), at: 1.2)
    #expect(filter.advance(to: 2).fixes.map(\.arrival) == [TestTime.at(1.1).instant])
  }

  @Test func whenTimesInterleave_thenEachEpochGivesOneFix() {
    var filter = FixFilter.fresh()
    let times: [Double] = [1, 2, 1, 2, 3, 2, 3]
    var events = times.enumerated().flatMap { filter.apply(.usable(seconds: $1), at: 1 + Double($0) / 100) }
    events += filter.advance(to: 2)
    #expect(events.fixes.count == 3)
    #expect(filter.counters.stragglers == 2)
  }

  @Test func `when the receiver's time stands still while it moves, then fixes go on`() {
    var filter = FixFilter.fresh()
    let events = filter.play(
      (0..<20).map { index in (Double(index) * 2, TPV.usable(latitude: 48 + Double(index) / 1e5, seconds: 1)) })
    #expect(events.fixes.count == 20)
    #expect(!events.statuses.contains(.noFix))
  }

  @Test("when one report is repeated for ever, then the position is lost", arguments: [1.0, nil])
  func frozen(seconds: Double?) {
    var filter = FixFilter.fresh()
    let report = TPV.usable(seconds: seconds).with { ($0.speed, $0.track) = (13.4, 87) }
    let events = filter.play((0..<200).map { (Double($0) / 5, report) })
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(events.statuses == [.positioned(device: "gps0"), .noFix])
    #expect(filter.counters.repeated > 150)
    #expect(filter.counters.refusals?.contains("repeated") == true)
  }

  @Test func `when a receiver without a time is at rest, then it is there still`() {
    var filter = FixFilter.fresh()
    let report = TPV.usable().with { $0.speed = 0.2 }
    let events = filter.play((0..<20).map { (Double($0), report) })
    #expect(!events.statuses.contains(.noFix))
  }
}

@Suite struct FixFilterRefusalTests {
  private func refused(_ tpv: TPV) -> PositioningCounters {
    var filter = FixFilter.fresh()
    let events = filter.apply(tpv, at: 1) + filter.advance(to: 2)
    #expect(events.isEmpty)
    return filter.counters
  }

  @Test func whenAReportIsOfNoUse_thenItsReasonIsCounted() {
    #expect(refused(.usable(mode: 1)).noFix == 1)
    #expect(refused(.usable(mode: 0)).noFix == 1)
    #expect(refused(.usable().with { $0.longitude = nil }).withoutPosition == 1)
    #expect(refused(.usable(latitude: 90.1)).outOfRange == 1)
    #expect(refused(.usable(longitude: -180.1)).outOfRange == 1)
    #expect(refused(.usable(latitude: 0, longitude: 0)).nullIsland == 1)
    #expect(refused(.usable().with { $0.status = 8 }).simulated == 1)
  }

  @Test func whenOnlyOneCoordinateIsZero_thenThePlaceIsReal() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(latitude: 0), at: 1)
    #expect(filter.advance(to: 2).fixes.count == 1)
  }

  @Test func whenDeadReckoning_thenTheFixCountsAndKeepsItsStatus() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable().with { $0.status = 5 }, at: 1)
    #expect(filter.advance(to: 2).fixes.first?.report?.status == 5)
  }

  @Test func whenTheModeIsTwo_thenThereIsNoAltitude() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(mode: 2).with { $0.altMSL = 171 }, at: 1)
    #expect(filter.advance(to: 2).fixes.map(\.fix.altitude) == [nil])
  }

  @Test func whenTheModeIsThree_thenTheBestAltitudeIsTaken() {
    func altitude(_ change: (inout TPV) -> Void) -> Double? {
      var filter = FixFilter.fresh()
      _ = filter.apply(.usable().with(change), at: 1)
      return filter.advance(to: 2).fixes.first?.fix.altitude
    }
    #expect(altitude { ($0.altMSL, $0.alt, $0.altHAE) = (1, 2, 3) } == 1)
    #expect(altitude { ($0.alt, $0.altHAE) = (2, 3) } == 2)
    #expect(altitude { $0.altHAE = 3 } == 3)
    for absurd in [1e308, -1e300, 9e15, 100_001, -1_001] { #expect(altitude { $0.altMSL = absurd } == nil) }
  }

  @Test func whenThereIsNoEstimate_thenTheReceiversOwnRecentSkyIsTaken() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.sky(device: "gps0", Dilution(hdop: 1.2)), at: TestTime.at(0.5))
    _ = filter.apply(.usable(eph: nil), at: 1)
    _ = filter.apply(.sky(device: "gps1", Dilution(hdop: 9)), at: TestTime.at(1.1))
    let fix = filter.advance(to: 2).fixes.first
    #expect(fix?.fix.accuracy == 6)
    #expect(fix?.accuracyRule == .hdop)
    #expect(fix?.dilution?.hdop == 1.2)
  }

  /// The one position behind these reports.
  private func fix(after reports: GPSDReport..., report: TPV) -> PositionedFix? {
    var filter = FixFilter.fresh()
    for report in reports { _ = filter.apply(report, at: TestTime.at(0.5)) }
    _ = filter.apply(report, at: 1)
    return filter.advance(to: 2).fixes.first
  }

  @Test func `when gpsd has named the driver, then its rule holds, also after a report without the name`() {
    let named = GPSDReport.devices([
      GPSDDevice(path: "gps0", driver: "u-blox"), GPSDDevice(path: "gps1", driver: "Zodiac"),
    ])
    let again = GPSDReport.device(GPSDDevice(path: "gps0"))
    #expect(fix(after: named, again, report: .usable())?.accuracyRule == .ephSigma)
    #expect(fix(after: named, report: .usable(device: "gps1"))?.accuracyRule == .ephRadius95)
    #expect(fix(after: again, report: .usable())?.accuracyRule == .ephUnknown)
  }

  @Test func `when a GST comes with the epoch, then it rules, but no old one and none of another receiver`() {
    let gst = GSTReport(device: "gps0", latitude: 3, longitude: 4)
    #expect(fix(after: .gst(gst), report: .usable())?.accuracyRule == .gst)
    #expect(fix(after: .gst(gst), report: .usable())?.fix.accuracy == 5)
    #expect(fix(after: .gst(gst), report: .usable(device: "gps1"))?.accuracyRule == .ephUnknown)
    var filter = FixFilter.fresh()
    _ = filter.apply(.gst(gst), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 3)
    #expect(filter.advance(to: 4).fixes.map(\.accuracyRule) == [.ephUnknown])
  }

  @Test func `when the sky view comes behind the position of its epoch, then the guess is known as one all the same`() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1, eph: 19), at: 1)
    _ = filter.apply(.sky(device: "gps0", Dilution(hdop: 1)), at: TestTime.at(1.05))
    #expect(filter.advance(to: 2).fixes.map(\.accuracyRule) == [.ephFromHDOP])
  }

  @Test func `when a speed cannot be, then the fix has none and the report keeps it`() {
    var filter = FixFilter(rules: .init(configuration: .init(speedLimit: 170)), startingAt: TestTime.origin)
    let speeds: [Double?] = [5000, 170, nil]
    let events = filter.play(
      speeds.enumerated().map { index, speed in
        (Double(index), TPV.usable(seconds: Double(index)).with { $0.speed = speed })
      })
    let fixes = events.fixes
    #expect(filter.counters.impossibleSpeeds == 1)
    #expect(fixes.map(\.fix.speed) == [nil, 170, nil])
    #expect(fixes.map(\.refusedSpeed) == [5000, nil, nil])
    #expect(fixes.map(\.report?.speed) == [5000, 170, nil])
  }

  @Test func whenTheSkyIsOld_thenTheAccuracyIsUnknown() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.sky(device: "gps0", Dilution(hdop: 1.2)), at: TestTime.at(0))
    _ = filter.apply(.usable(eph: nil), at: 20)
    #expect(filter.advance(to: 21).fixes.map(\.fix.accuracy) == [nil])
  }
}

@Suite struct FixFilterDeviceTests {
  @Test func whenTwoReceiversReport_thenTheFirstWithAFixIsKept() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(mode: 1, device: "a"), at: 0)
    events += (1...8).flatMap { second in
      filter.apply(.usable(device: "b"), at: Double(second))
        + filter.apply(.usable(latitude: 10, device: "a"), at: Double(second) + 0.1)
    }
    #expect(Set(events.fixes.map(\.device)) == ["b"])
    #expect(events.statuses == [.positioned(device: "b")])
    #expect(filter.counters.otherDevice == 8)
  }

  @Test func whenTheChosenReceiverIsStale_thenTheOtherOneTakesOver() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(device: "a"), at: 0)
    for second in 1...7 { events += filter.apply(.usable(device: "b"), at: Double(second)) }
    #expect(events.statuses == [.positioned(device: "a"), .noFix, .positioned(device: "b")])
    #expect(events.fixes.map(\.device) == ["a", nil, "b", "b"])
  }

  @Test func whenAReceiverIsConfigured_thenNoOtherCountsEver() {
    var filter = FixFilter.fresh(device: "b")
    let events = (0...20).flatMap { filter.apply(.usable(device: "a"), at: Double($0)) }
    #expect(events.fixes.isEmpty)
    #expect(events.statuses == [.noFix])
  }

  @Test func whenTheServerNamesNoReceiver_thenItsReportsCount() {
    var filter = FixFilter.fresh()
    let events = filter.apply(.usable(device: nil), at: 0) + filter.advance(to: 1)
    #expect(events.statuses == [.positioned(device: nil)])
    #expect(events.fixes.count == 1)
  }

  @Test func whenReceiversComeAndGo_thenTheListIsToldOnChange() {
    var filter = FixFilter.fresh()
    func statuses(_ report: GPSDReport) -> [PositioningStatus] { filter.apply(report, at: TestTime.at(1)).statuses }
    #expect(statuses(.devices([])) == [.devices([])])
    #expect(statuses(.devices([])) == [])
    #expect(statuses(.device(GPSDDevice(path: "a"))) == [.devices(["a"])])
    #expect(statuses(.device(GPSDDevice(path: "a", cycle: 1))) == [])
    #expect(statuses(.device(GPSDDevice(path: "a", isActive: false))) == [.devices([])])
  }
}

@Suite struct FixFilterLossTests {
  @Test func whenNoUsableReportComesForFiveSeconds_thenOneLostFixIsGiven() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(6).instant)
    #expect(filter.apply(.usable(mode: 1), at: 5.9).isEmpty)
    let loss = filter.advance(to: 6)
    #expect(loss.fixes.map(\.fix) == [.lost])
    #expect(loss.statuses == [.noFix])
    #expect(filter.advance(to: 100).isEmpty)
    #expect(filter.nextDeadline == nil)
    #expect(filter.counters.losses == 1)
  }

  @Test func whenTheFixComesBack_thenItIsToldAgain() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 10)
    #expect(filter.apply(.usable(), at: 11).statuses == [.positioned(device: "gps0")])
    #expect(filter.advance(to: 12).fixes.count == 1)
  }

  @Test func whenThereNeverWasAFix_thenOnlyTheStateIsTold() {
    var filter = FixFilter.fresh()
    #expect(filter.advance(to: 5) == [.status(.noFix)])
  }

  @Test func whenTheReceiverIsSlow_thenTwoOfItsCyclesAreAllowed() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.device(GPSDDevice(path: "gps0", cycle: 10)), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(21).instant)
  }

  @Test("when a cycle is nonsense, then it does not put off the loss", arguments: [1e9, 10.1, 1e-300, -1])
  func cycle(_ cycle: Double) {
    var filter = FixFilter.fresh()
    _ = filter.apply(.devices([GPSDDevice(path: "gps0", cycle: cycle)]), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 1)
    _ = filter.advance(to: 2)
    #expect(filter.nextDeadline == TestTime.at(6).instant)
  }

  @Test func whenTheChosenReceiverIsClosed_thenThePositionIsLostAtOnce() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(), at: 1)
    let closed = GPSDReport.device(GPSDDevice(path: "gps0", isActive: false))
    let events = filter.apply(closed, at: TestTime.at(1.1))
    #expect(events.fixes.map { $0.fix == .lost } == [false, true])
    #expect(filter.apply(closed, at: TestTime.at(1.2)).isEmpty)
  }
}

@Suite struct FixFilterClockTests {
  /// The statuses about the clock when the receiver's time is off by these seconds, one fix a second.
  private func told(_ differences: [Double]) -> [PositioningStatus] {
    var filter = FixFilter.fresh()
    let events = differences.enumerated().flatMap { index, difference in
      filter.apply(.usable(seconds: Double(index) + difference), at: Double(index))
        + filter.advance(to: Double(index) + 0.5)
    }
    #expect(events.fixes.count == differences.count)
    #expect(events.fixes.map(\.clockDifference) == differences.map { .microseconds(Int64($0 * 1e6)) })
    return events.statuses.filter { if case .clockDifference = $0 { true } else { false } }
  }

  @Test func whenTheReceiversTimeIsNear_thenNothingIsSaid() {
    #expect(told([0, 2, -2, 0.5]) == [])
  }

  @Test func whenItIsOffByYears_thenThatIsSaidOnceAndTheFixesStand() {
    let rollover = -619_315_200.0
    #expect(told([rollover, rollover + 1, rollover - 1]) == [.clockDifference(.seconds(rollover))])
  }

  @Test func whenItJumpsBackToTheTruth_thenThatIsSaid() {
    #expect(
      told([619_315_200, 619_315_200, 0, 0]) == [.clockDifference(.seconds(619_315_200)), .clockDifference(nil)])
  }

  /// The crash of a real receiver: a broken almanac, a time that gpsd passes on, and 64 bits of nanoseconds.
  @Test(
    "when the receiver's time is centuries off, then that is said in seconds and the fixes stand",
    arguments: ["0001-01-01T00:00:00Z", "1600-06-01T00:00:00.5Z", "2400-01-01T00:00:00Z", "9999-12-31T23:59:60Z"])
  func whenItIsOffByCenturies(time: String) throws {
    var filter = FixFilter.fresh()
    let line = #"{"class":"TPV","mode":3,"time":"\#(time)","lat":48.2,"lon":16.3,"eph":5}"#
    let report = try #require(GPSDReport(line: Array(line.utf8)))
    let now = HostTime(instant: TestTime.at(1).instant, wall: WallTime(microseconds: 1_795_168_800_000_000))
    let events = filter.apply(report, at: now) + filter.advance(to: TestTime.at(2))
    #expect(events.fixes.count == 1)
    let said = events.statuses.compactMap { if case .clockDifference(let off?) = $0 { ("\($0)", off) } else { nil } }
    let (text, difference) = try #require(said.first)
    #expect(abs(difference.inSeconds) > 250 * 365.25 * 86_400)
    #expect(text.contains("differs from the host's by \(difference.inSeconds) s"))
  }

  @Test("when a difference comes and goes about the tolerance, then that is said once")
  func aboutTheTolerance() {
    #expect(told([2.25, 1.75, 2.25, 1.75, 0.5]) == [.clockDifference(.seconds(2.25)), .clockDifference(nil)])
  }

  @Test(
    "when the host was suspended, then of the positions that waited meanwhile only the newest counts",
    arguments: [1.0, 5.0, 10.0])
  func backlog(rate: Double) {
    var filter = FixFilter.fresh()
    for second in 1...5 { _ = filter.apply(.usable(seconds: Double(second)), at: Double(second)) }
    _ = filter.advance(to: 5.5)
    // Twenty seconds later, everything since then at once: a millisecond for each second's worth.
    var events: [PositioningEvent] = []
    for step in 0..<Int(20 * rate) {
      let seconds = 5 + Double(step + 1) / rate
      events += filter.apply(
        .usable(latitude: 48.2 + seconds / 1e4, seconds: seconds), at: 25 + Double(step) / rate / 1000)
    }
    events += filter.advance(to: 25.3)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.2 + 25 / 1e4])
    #expect(filter.counters.overtaken + filter.counters.behind == Int(20 * rate) - 1)
    // And on it goes at its pace.
    _ = filter.apply(.usable(seconds: 26), at: 26)
    #expect(filter.advance(to: 26.5).fixes.count == 1)
  }

  @Test("when positions come back after a tunnel at their pace, then each counts, however fast the receiver")
  func noBacklog() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1), at: 1)
    _ = filter.advance(to: 20)
    var fixes = 0
    for step in 0..<50 {
      let seconds = 20 + Double(step) / 25
      fixes += filter.apply(.usable(seconds: seconds), at: seconds).fixes.count
    }
    #expect(fixes + filter.advance(to: 23).fixes.count == 50)
  }

  @Test("when several positions come at once after a short stall, then the last of them is of now")
  func shortStall() {
    var filter = FixFilter.fresh()
    var events = filter.apply(.usable(latitude: 48.21, seconds: 1), at: 1)
    events += filter.advance(to: 1.2)
    for step in 2...4 {
      // In one piece, or nearly so.
      let now = step < 4 ? 1.5 : 1.501
      events += filter.apply(.usable(latitude: 48.2 + Double(step) / 100, seconds: 1 + Double(step) / 10), at: now)
    }
    events += filter.apply(.usable(latitude: 48.25, seconds: 1.5), at: 1.6)
    events += filter.advance(to: 1.9)
    #expect(events.fixes.compactMap(\.fix.coordinate?.latitude) == [48.21, 48.24, 48.25])
    #expect(filter.counters.overtaken == 2)
  }
}
