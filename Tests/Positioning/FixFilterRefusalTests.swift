import Coverage
import Testing

@testable import Positioning

@Suite struct FixFilterRefusalTests {
  private func refused(_ tpv: TPV) -> PositioningCounters {
    var filter = FixFilter.fresh()
    let events = filter.apply(tpv, at: 1) + filter.advance(to: 2)
    #expect(events.isEmpty)
    return filter.counters
  }

  @Test func whenAReportIsUnusable_thenItsReasonIsCounted() {
    #expect(refused(.usable(mode: 1))[.noFix] == 1)
    #expect(refused(.usable(mode: 0))[.noFix] == 1)
    #expect(refused(.usable().with { $0.longitude = nil })[.withoutPosition] == 1)
    #expect(refused(.usable(latitude: 90.1))[.outOfRange] == 1)
    #expect(refused(.usable(longitude: -180.1))[.outOfRange] == 1)
    #expect(refused(.usable(latitude: 0, longitude: 0))[.nullIsland] == 1)
    #expect(refused(.usable().with { $0.status = 7 })[.surveyed] == 1)
    #expect(refused(.usable().with { $0.status = 8 })[.simulated] == 1)
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

  /// The fix that results from these reports.
  private func fix(after reports: GPSDReport..., report: TPV) -> PositionedFix? {
    var filter = FixFilter.fresh()
    for report in reports { _ = filter.apply(report, at: TestTime.at(0.5)) }
    _ = filter.apply(report, at: 1)
    return filter.advance(to: 2).fixes.first
  }

  @Test func `when gpsd has named the driver, then the driver's rule applies, even after a report without the name`() {
    let named = GPSDReport.devices([
      GPSDDevice(path: "gps0", driver: "u-blox"), GPSDDevice(path: "gps1", driver: "Zodiac"),
    ])
    let again = GPSDReport.device(GPSDDevice(path: "gps0"))
    #expect(fix(after: named, again, report: .usable())?.accuracyRule == .ephSigma)
    #expect(fix(after: named, report: .usable(device: "gps1"))?.accuracyRule == .ephRadius95)
    #expect(fix(after: again, report: .usable())?.accuracyRule == .ephUnknown)
  }

  @Test func `when gpsd has named a receiver's model, then its fixes have it, and those of others do not`() {
    let named = GPSDReport.devices([GPSDDevice(path: "gps0", model: "M8"), GPSDDevice(path: "gps1")])
    let again = GPSDReport.device(GPSDDevice(path: "gps0"))
    #expect(fix(after: named, again, report: .usable())?.model == "M8")
    #expect(fix(after: named, report: .usable(device: "gps1"))?.model == nil)
  }

  @Test func `when a GST comes with the epoch, then it applies, but an old one or another receiver's does not`() {
    let gst = GSTReport(device: "gps0", latitude: 3, longitude: 4)
    #expect(fix(after: .gst(gst), report: .usable())?.accuracyRule == .gst)
    #expect(fix(after: .gst(gst), report: .usable())?.fix.accuracy == 5)
    #expect(fix(after: .gst(gst), report: .usable(device: "gps1"))?.accuracyRule == .ephUnknown)
    var filter = FixFilter.fresh()
    _ = filter.apply(.gst(gst), at: TestTime.at(0))
    _ = filter.apply(.usable(), at: 3)
    #expect(filter.advance(to: 4).fixes.map(\.accuracyRule) == [.ephUnknown])
  }

  @Test func `when the sky view comes after the position of its epoch, then gpsd's guess is still recognised`() {
    var filter = FixFilter.fresh()
    _ = filter.apply(.usable(seconds: 1, eph: 19), at: 1)
    _ = filter.apply(.sky(device: "gps0", Dilution(hdop: 1)), at: TestTime.at(1.05))
    #expect(filter.advance(to: 2).fixes.map(\.accuracyRule) == [.ephFromHDOP])
  }

  @Test func `when a speed is impossible, then the fix has no speed and the report keeps it`() {
    var filter = FixFilter(configuration: .init(speedLimit: 170), startingAt: TestTime.origin)
    let speeds: [Double?] = [5000, 170, nil]
    let events = filter.play(
      speeds.enumerated().map { index, speed in
        (Double(index), TPV.usable(seconds: Double(index)).with { $0.speed = speed })
      })
    let fixes = events.fixes
    #expect(filter.counters[.impossibleSpeeds] == 1)
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

  // MARK: Reach

  private func filter(maximumSpeed: Double) -> FixFilter {
    FixFilter(configuration: .init(maximumSpeed: maximumSpeed), startingAt: TestTime.origin)
  }

  @Test(
    "when a position is out of reach, then it is refused unless known accuracies explain it",
    arguments: [(55.0, 8.1, 0), (51, nil, 1), (49, nil, 0)] as [(Double, Double?, Int)])
  func reach(metres: Double, error: Double?, jumps: Int) {
    var filter = filter(maximumSpeed: 50)
    _ = filter.apply(.usable(latitude: 48, longitude: 16, eph: error), at: 1)
    _ = filter.apply(.usable(latitude: 48 + metres / 111_200, longitude: 16, eph: error), at: 2)
    _ = filter.advance(to: 3)
    #expect(filter.counters[.jumps] == jumps)
  }

  @Test("when the receiver proves to be elsewhere, then the time until a loss counts from its last position there")
  func lossAfterAJump() {
    var filter = filter(maximumSpeed: 50)
    for second in 1...5 {
      _ = filter.apply(.usable(latitude: second < 3 ? 48 : 49, longitude: 16), at: Double(second))
    }
    _ = filter.advance(to: 5.5)
    #expect(filter.counters[.jumps] == 2)
    #expect(filter.nextDeadline == TestTime.at(10).instant)
  }

  @Test(
    "when a course is more than 360 degrees, then the fix has no course",
    arguments: [(360.0, 360.0), (360.5, nil)] as [(Double, Double?)])
  func courses(track: Double, course: Double?) throws {
    var filter = FixFilter.fresh()
    let fix = try #require(filter.play([(1, .usable().with { $0.track = track })]).fixes.first)
    #expect(fix.fix.course == course)
  }
}
