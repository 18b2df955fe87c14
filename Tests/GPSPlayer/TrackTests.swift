import Testing

@testable import gps_player

@Suite struct TrackTests {
  static let point = TrackPoint(
    seconds: 1, latitude: 48.2291, longitude: -16.4207, speed: 10, course: 80, altitude: 172, accuracy: 3.8)
  /// 2026-11-20 10:00:00 UTC
  static let start = UTCTime(milliseconds: 1_795_168_800_000)

  @Test func readsCSVAndJSONLines() throws {
    let csv = "# made up\nseconds,latitude,longitude,accuracy_m\n0,48.5,16.25,4\n\n0.5,,,\n"
    let points = try Track.points(csv: csv)
    #expect(points.map(\.seconds) == [0, 0.5])
    #expect(points[0].position?.longitude == 16.25)
    #expect(points[0].speed == nil)
    #expect(points[1].position == nil)
    let lines = #"{"seconds":0,"latitude":48.5,"longitude":16.25,"accuracy_m":4}"# + "\n" + #"{"seconds":0.5}"#
    #expect(try Track.points(jsonLines: lines) == points)
    #expect(try Track.points(csv: "0,48.5,16.25,13.5\n").first?.speed == 13.5)
  }

  @Test(arguments: [
    "", "seconds,place\n", "0,91,0\n", "0,48,\n", "1,48,16\n1,48,16\n", "0,x,16\n", ",48,16\n", "nan,48,16\n",
    "0,1,2,3,4,5,6,7\n", "1e10,48,16\n", "9223372036854775807,48,16\n", "1e308,48,16\n", "inf,48,16\n",
  ])
  func refuses(csv: String) {
    #expect(throws: PlayerError.self) { try Track.points(csv: csv) }
  }

  @Test func sentences() {
    #expect(
      NMEA.sentences(Self.point, time: Self.start) == [
        "$GPGGA,100000.000,4813.7460000,N,01625.2420000,W,1,08,0.200,172.0,M,,M,,*50\r\n",
        "$GPGSA,A,3,02,05,07,13,15,20,24,30,,,,,0.200,0.200,0.200*31\r\n",
        "$GPRMC,100000.000,A,4813.7460000,N,01625.2420000,W,19.438,80.00,201126,,,A*4B\r\n",
      ])
    let none = NMEA.sentences(TrackPoint(seconds: 2), time: Self.start)
    #expect(none[0].hasPrefix("$GPGGA,100000.000,,,,,0,00,"))
    #expect(none[2].hasPrefix("$GPRMC,100000.000,V,"))
  }

  @Test func checksumAsKnown() {
    // The example in most descriptions of NMEA 0183.
    let body = "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"
    #expect(NMEA.sentence(body) == "$\(body)*47\r\n")
  }

  @Test func anglesDoNotOverflowTheirMinutes() {
    #expect(NMEA.angle(47.9999999999, width: 2) == "4800.0000000")
    #expect(NMEA.angle(-0.5, width: 3) == "00030.0000000")
  }

  @Test func report() {
    #expect(
      GPSDReports.tpv(Self.point, time: Self.start)
        == #"{"class":"TPV","device":"/dev/ttyPlayer0","mode":3,"time":"2026-11-20T10:00:00.000Z","ept":0.005,"#
        + #""lat":48.229100000,"lon":-16.420700000,"altMSL":172.0000,"alt":172.0000,"track":80.0000,"speed":10.000,"#
        + #""eph":3.800}"#)
    let none = GPSDReports.tpv(TrackPoint(seconds: 2), time: Self.start)
    #expect(none.contains(#""mode":1"#) && !none.contains("lat"))
  }
}
