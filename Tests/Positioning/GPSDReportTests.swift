import Coverage
import Testing

@testable import Positioning

@Suite struct GPSDReportTests {
  private func report(_ line: String) -> GPSDReport? {
    GPSDReport(line: Array(line.utf8))
  }

  private func readTPV(_ line: String) -> TPV? {
    if case .tpv(let tpv) = report(line) { tpv } else { nil }
  }

  @Test func whenGPSDGreets_thenItsReleaseIsReadAndItsProtocolNumbersAreNot() {
    #expect(
      report(#"{"class":"VERSION","release":"3.27.5","rev":"3.27.5","proto_major":16,"proto_minor":1}"#)
        == .version(release: "3.27.5"))
    #expect(report(#"{"class":"VERSION"}"#) == .version(release: nil))
  }

  @Test func whenWatchIsEchoed_thenBothSwitchesAreRead() {
    #expect(report(#"{"class":"WATCH","enable":true,"json":true,"nmea":false}"#) == .watch(enabled: true, json: true))
    #expect(report(#"{"class":"WATCH","enable":true,"json":false}"#) == .watch(enabled: true, json: false))
  }

  @Test func whenATPVIsComplete_thenEveryFieldIsRead() throws {
    let tpv = try #require(
      readTPV(
        #"{"class":"TPV","device":"/dev/pts/2","status":2,"mode":3,"time":"2017-01-10T00:09:41.250Z","lat":44.0688,"#
          + #""lon":-121.3142,"altHAE":1085.1,"altMSL":1106.2,"alt":1106.2,"track":10.5,"speed":0.015,"climb":-0.1,"#
          + #""eph":19.1,"epx":3.5,"epy":4.5,"epv":9.8}"#))
    #expect(tpv.device == "/dev/pts/2")
    #expect((tpv.mode, tpv.status) == (3, 2))
    #expect(tpv.time == WallTime(microseconds: 1_484_006_981_250_000))
    #expect((tpv.latitude, tpv.longitude) == (44.0688, -121.3142))
    #expect((tpv.altHAE, tpv.altMSL, tpv.alt) == (1085.1, 1106.2, 1106.2))
    #expect((tpv.track, tpv.speed) == (10.5, 0.015))
    #expect((tpv.eph, tpv.epx, tpv.epy, tpv.epv) == (19.1, 3.5, 4.5, 9.8))
  }

  @Test(arguments: ["nan", "NaN", "-nan", "inf", "-inf", "Infinity", "null", "1e999", "\"7\"", "[7]", "0x1p3", "--1"])
  func whenAValueIsNotANumber_thenItIsAbsentAndTheRestOfTheLineCounts(value: String) {
    let tpv = readTPV("{\"class\":\"TPV\",\"mode\":3,\"speed\":\(value),\"lat\":48.5}")
    #expect(tpv != nil)
    #expect(tpv?.speed == nil)
    #expect(tpv?.latitude == 48.5)
  }

  @Test func whenTheClassComesLastAndThereAreBlanks_thenTheReportIsRead() {
    #expect(readTPV(#"{ "mode" : 2 , "lat":1.5, "class" : "TPV" }"#)?.latitude == 1.5)
  }

  @Test func whenAPassThroughClassIsOddJSON_thenOnlyItsClassIsRead() {
    #expect(report(#"{"class":"RTCM3","type":1005,"satellites":[{"ident":1,},{"ident":2,},],}"#) == .other("RTCM3"))
    #expect(report(#"{"class":"XXX","text":"U can't touch \"dis\"."}"#) == .other("XXX"))
  }

  @Test(arguments: [
    "", "{", "}", "{}", "[]", "$GPGGA,1,2*33", #"{"class":"TPV","mode":3"#, #"{"class":"TPV","lat":48.2,"lo"#,
    #"{"class":7}"#, #"{"mode":3}"#, #"{"class":"TPV"}{"class":"TPV"}"#, #"{"class":"TPV\"}"#, "{\"class\":\"\\",
    #"{"class":"TPV","x":[[[}"#,
  ])
  func whenALineIsBroken_thenThereIsNoReport(line: String) {
    #expect(report(line) == nil)
  }

  @Test func whenBracketsNestWithoutEnd_thenNothingOverflows() {
    #expect(report("{\"class\":\"TPV\",\"x\":" + String(repeating: "[", count: 60_000)) == nil)
  }

  @Test func whenALineIsCutOffAnywhereOrHasAByteChanged_thenNothingTraps() {
    let line = Array(
      #"{"class":"DEVICES","devices":[{"path":"\u00e4\\","cycle":1.0,"activated":"x"}],"a":{"b":[1,2]}}"#.utf8)
    for length in 0..<line.count { #expect(GPSDReport(line: Array(line[..<length])) == nil) }
    for index in line.indices {
      for byte in [UInt8(0), 0x22, 0x5C, 0x5B, 0x7D, 0xFF] {
        var damaged = line
        damaged[index] = byte
        _ = GPSDReport(line: damaged)
      }
    }
  }

  @Test func whenDevicesAreListed_thenEachHasItsPathAndCycle() {
    let line = #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/a","cycle":0.2},{"path":"tcp://b:1"},7]}"#
    #expect(report(line) == .devices([GPSDDevice(path: "/dev/a", cycle: 0.2), GPSDDevice(path: "tcp://b:1")]))
    #expect(report(#"{"class":"DEVICES","devices":[]}"#) == .devices([]))
  }

  @Test(arguments: [("0", false), ("1269960793.97", true), ("\"2026-11-20T23:58:46.853Z\"", true)])
  func whenActivatedIsANumberOrADate_thenOnlyZeroMeansClosed(value: String, isActive: Bool) {
    let line = "{\"class\":\"DEVICE\",\"path\":\"/dev/a\",\"activated\":\(value)}"
    #expect(report(line) == .device(GPSDDevice(path: "/dev/a", isActive: isActive)))
  }

  @Test func whenASkyHasNoSatellites_thenItsHDOPIsRead() {
    #expect(report(#"{"class":"SKY","device":"g","hdop":1.25}"#) == .sky(device: "g", Dilution(hdop: 1.25)))
    #expect(
      report(#"{"class":"SKY","xdop":0.6,"ydop":0.7,"hdop":0.9}"#)
        == .sky(device: nil, Dilution(hdop: 0.9, xdop: 0.6, ydop: 0.7)))
    #expect(
      report(#"{"class":"SKY","satellites":[{"PRN":1}]}"#)
        == .sky(device: nil, Dilution(hdop: nil), Satellites(seen: 1, used: 0)))
  }

  @Test func `when a GST comes, then its standard deviations are read`() {
    #expect(
      report(#"{"class":"GST","device":"g","rms":1.5,"major":4,"minor":3,"orient":12.5,"lat":3.5,"lon":2.5,"alt":9}"#)
        == .gst(GSTReport(device: "g", latitude: 3.5, longitude: 2.5, major: 4, minor: 3)))
    #expect(report(#"{"class":"GST","lat":nan}"#) == .gst(GSTReport(device: nil)))
  }

  @Test func `when a device has a driver, then its name is read, cut and cleaned`() {
    #expect(
      report(#"{"class":"DEVICE","path":"g","driver":"u-blox"}"#) == .device(GPSDDevice(path: "g", driver: "u-blox")))
    let evil = report(#"{"class":"DEVICE","path":"g","driver":"\n\u001b\#(String(repeating: "x", count: 99))"}"#)
    #expect(
      evil == .device(GPSDDevice(path: "g", driver: "  \(String(repeating: "x", count: 62))...")))
  }

  @Test func `when a device names its model in one or two parts, then they are read as one`() {
    for (members, model) in [
      (#""subtype":"SW 3.01,HW 80000","subtype1":"PROTVER=18.00""#, "SW 3.01,HW 80000, PROTVER=18.00"),
      (#""subtype":"AXN_2.31","subtype1":"""#, "AXN_2.31"), (#""subtype":"","subtype1":7"#, nil),
    ] {
      #expect(report(#"{"class":"DEVICE","path":"g",\#(members)}"#) == .device(GPSDDevice(path: "g", model: model)))
    }
  }

  @Test func whenGPSDComplains_thenItsMessageIsReadWithItsEscapes() {
    #expect(
      report(#"{"class":"ERROR","message":"No \"such\"\tdevice \u00e4\ud83d\ude00"}"#)
        == .complaint("No \"such\"\tdevice ä😀"))
  }

  @Test(arguments: [
    ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.5Z", -500_000),
    ("2000-02-29T12:00:00Z", 951_825_600_000_000),
    ("2016-12-31T23:59:60.000Z", 1_483_228_800_000_000), ("2028-04-08T08:14:37.123456789Z", 1_838_794_477_123_456),
  ])
  func whenATimeIsWellFormed_thenItIsReadToTheMicrosecond(text: String, microseconds: Int64) {
    #expect(ReceiverTime.parse(text) == WallTime(microseconds: microseconds))
  }

  @Test(arguments: [
    "", "Z", "2017-01-10", "2017-01-10T00:09:41", "2017-13-10T00:00:00Z", "2017-01-10T24:00:00Z", "2017-1-1T0:0:0Z",
    "2017-01-10T00:00:00.Z", "2017-01-10T00:00:00.12x4Z", "+017-01-10T00:00:00Z", "2017-01-10T00:00:61Z", "TTZ", "T::Z",
  ])
  func whenATimeIsMalformed_thenItIsAbsent(text: String) {
    #expect(ReceiverTime.parse(text) == nil)
  }
}
