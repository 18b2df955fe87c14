import Testing

@testable import Positioning

@Suite struct AccuracyTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let figures: ErrorFigures
    let metres: Double?
    let rule: AccuracyRule

    init(_ name: String, _ figures: ErrorFigures, _ metres: Double?, _ rule: AccuracyRule) {
      (self.name, self.figures, self.metres, self.rule) = (name, figures, metres, rule)
    }

    var testDescription: String { name }
  }

  private static let sky = [Dilution(hdop: 0.9, xdop: 0.6, ydop: 0.7)]
  private static let gst = GSTReport(device: nil, latitude: 3, longitude: 4, major: 30, minor: 40)

  private static let cases = [
    // (a) gpsd's guess: with either factor, the same HDOP gives the same accuracy.
    Case("19.0 times HDOP", .init(eph: 17.1, driver: "NMEA0183", dilutions: sky), 4.5, .ephFromHDOP),
    Case("4.75 times HDOP", .init(eph: 4.275, status: 2, driver: "NMEA0183", dilutions: sky), 4.5, .ephFromHDOP),
    Case("HDOP alone", .init(driver: "NMEA0183", dilutions: sky), 4.5, .hdop),
    Case("the guess of an unknown driver", .init(eph: 17.1, dilutions: sky), 4.5, .ephFromHDOP),
    Case("the guess for a u-blox", .init(eph: 17.1, driver: "u-blox", dilutions: sky), 4.5, .ephFromHDOP),
    Case("HDOP was printed rounded", .init(eph: 17.187, driver: "SiRF IV", dilutions: sky), 17.187, .ephSigma),
    Case("an HDOP of more decimals", .init(eph: 17.16, driver: "Trimble TSIP", dilutions: sky), 4.516, .ephFromHDOP),
    Case(
      "the guess from the dilution before", .init(eph: 19, dilutions: sky + [Dilution(hdop: 1)]), 5, .ephFromHDOP),
    Case("the guess from a dilution to come", .init(eph: 15.2, driver: "NMEA0183", dilutions: sky), 4, .ephFromHDOP),
    Case("no guess, too far from it", .init(eph: 7.6, driver: "NMEA0183", dilutions: sky), 7.6, .ephUnknown),
    Case("no dilution", .init(eph: 19, driver: "NMEA0183"), 19, .ephUnknown),
    Case(
      "epx and epy are the guess", .init(epx: 9, epy: 10.5, driver: "NMEA0183", dilutions: sky), 4.61, .axesFromHDOP),
    // (b) The receiver's own standard deviations.
    Case("GST", .init(eph: 17.1, driver: "NMEA0183", dilutions: sky, gst: gst), 5, .gst),
    Case("GST and an own estimate", .init(eph: 8, driver: "u-blox", gst: gst), 5, .gst),
    Case("GST as an ellipse", .init(gst: .init(device: nil, major: 3, minor: 4)), 5, .gst),
    Case("an empty GST", .init(eph: 8, driver: "u-blox", gst: .init(device: nil)), 8, .ephSigma),
    Case(
      "GBS beside the guess", .init(eph: 17.1, epx: 3, epy: 4, driver: "NMEA0183", dilutions: sky), 5, .gbs),
    Case(
      "the guess in all three", .init(eph: 17.1, epx: 9, epy: 10.5, driver: "NMEA0183", dilutions: sky), 4.5,
      .ephFromHDOP),
    Case(
      "the guess in all three, with DGPS",
      .init(eph: 4.275, epx: 2.25, epy: 2.625, status: 2, driver: "NMEA0183", dilutions: sky), 4.5, .ephFromHDOP),
    // (c) By the driver.
    Case("u-blox", .init(eph: 8, epx: 3, epy: 4, driver: "u-blox", dilutions: sky), 8, .ephSigma),
    Case("Greis", .init(eph: 8, driver: "GREIS", dilutions: sky), 8, .ephSigma),
    Case("SiRF", .init(eph: 8, driver: "SiRF", dilutions: sky), 8, .ephSigma),
    Case("Allystar", .init(eph: 8, driver: "Allystar", dilutions: sky), 8, .ephSigma),
    Case("Garmin", .init(eph: 16.2, driver: "Garmin USB binary", dilutions: sky), 10, .ephRadius95),
    Case("Garmin, NMEA", .init(eph: 16.2, driver: "Garmin NMEA", dilutions: sky), 10, .ephRadius95),
    Case("Zodiac", .init(eph: 16.2, driver: "Zodiac", dilutions: sky), 10, .ephRadius95),
    Case("Navcom", .init(eph: 19.6, driver: "Navcom NCT", dilutions: sky), 10, .ephAxis95),
    // (d) Unknown estimates: the cautious reading.
    Case("an unknown driver", .init(eph: 8, driver: "Skytraq", dilutions: sky), 8, .ephUnknown),
    Case("no driver", .init(eph: 8), 8, .ephUnknown),
    Case("axes from an unknown driver", .init(epx: 3, epy: 4), 5, .axesUnknown),
    Case("one axis", .init(epx: 3, dilutions: sky), 4.5, .hdop),
    Case("nothing", .init(), nil, .none),
    // Lower bounds: no receiver is perfect.
    Case("a tiny eph", .init(eph: 0.001, driver: "u-blox"), 1, .ephSigma),
    Case("a tiny eph with DGPS", .init(eph: 0.001, status: 2, driver: "u-blox"), 0.5, .ephSigma),
    Case("a tiny eph with a floating RTK solution", .init(eph: 0.001, status: 4, driver: "u-blox"), 0.2, .ephSigma),
    Case("RTK", .init(eph: 0.014, status: 3, driver: "u-blox"), 0.02, .ephSigma),
    Case("an eph of zero", .init(eph: 0, driver: "u-blox", dilutions: sky), 4.5, .hdop),
  ]

  @Test("when gpsd gives these figures, then the accuracy follows this rule", arguments: cases)
  func rule(_ given: Case) throws {
    let accuracy = HorizontalAccuracy(given.figures)
    #expect(accuracy.rule == given.rule)
    #expect((accuracy.metres == nil) == (given.metres == nil))
    if let metres = accuracy.metres, let expected = given.metres { #expect(abs(metres - expected) < 0.001) }
  }

  @Test(arguments: [0, -1, Double.nan, .infinity])
  func whenAnEstimateIsImpossible_thenItCountsAsAbsent(value: Double) {
    let figures = ErrorFigures(
      eph: value, epx: value, epy: 2, dilutions: [Dilution(hdop: value)],
      gst: GSTReport(device: nil, latitude: value, longitude: 1, major: value, minor: 2))
    #expect(HorizontalAccuracy(figures) == HorizontalAccuracy(ErrorFigures()))
  }

  @Test func `when a figure grows, then no rule makes the accuracy better`() {
    for driver in [nil, "NMEA0183", "u-blox", "Garmin USB binary", "Navcom NCT"] {
      let metres = (1...400).compactMap {
        HorizontalAccuracy(ErrorFigures(eph: Double($0) / 4 + 0.111, driver: driver)).metres
      }
      #expect(zip(metres, metres.dropFirst()).allSatisfy { $0 <= $1 })
    }
  }
}
