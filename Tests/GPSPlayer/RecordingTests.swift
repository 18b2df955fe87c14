import Testing

@testable import gps_player

@Suite struct RecordingTests {
  private func sentence(_ time: String) -> String { NMEA.sentence("GPGGA,\(time),,,,,0,00,,,M,,M,,") }

  @Test func logKeepsItsBytesAndItsPace() throws {
    let body = "junk\n" + sentence("235959.0") + "\u{1}\u{2}" + sentence("000000.0") + sentence("000000.0") + "$GPRMC,0"
    let log = Array(("# a note\n# another\n" + body).utf8)
    let paced = try ReceiverLog.recording(log, rate: nil)
    #expect(paced.pieces.flatMap(\.bytes) == Array(body.utf8))
    #expect(paced.pieces.map(\.at) == [0, 1])
    let rated = try ReceiverLog.recording(log, rate: 100)
    #expect(rated.pieces.flatMap(\.bytes) == Array(body.utf8))
    #expect(rated.pieces.reduce(0) { $0 + $1.epochs } == 2)
    #expect(rated.pieces[1].at == 0.05)
  }

  @Test func logWithoutTimesNeedsARate() throws {
    let binary: [UInt8] = [0xA0, 0xA2, 0x00, 0x29]
    #expect(throws: PlayerError.self) { try ReceiverLog.recording(binary, rate: nil) }
    #expect(try ReceiverLog.recording(binary, rate: 1).pieces.count == 4)
    #expect(throws: PlayerError.self) { try ReceiverLog.recording(Array("# only\n".utf8), rate: 1) }
  }

  @Test(arguments: [1e18, 9.3e18, 1e19, 2e20, 1e308])
  func `when the rate is beyond 64 bits, then the log is played in one piece`(rate: Double) throws {
    let log = Array(("# a note\n" + sentence("235959.0") + sentence("000000.0")).utf8)
    let recording = try ReceiverLog.recording(log, rate: rate)
    #expect(recording.pieces.map(\.bytes) == [Array((sentence("235959.0") + sentence("000000.0")).utf8)])
    #expect(recording.pieces.map(\.epochs) == [2])
  }

  @Test(arguments: [
    ["--gpsd", "x", "--start-at", "1e300"], ["--gpsd", "x", "--close-at", "1e19"],
    ["--gpsd", "x", "--speed", "1e-300"],
    ["--gpsd", "x", "--silence", "1,1e300"], ["--gpsd", "x", "--away", "0,9223372036854775808"],
    ["--gpsd", "x", "--start-at", "nan"], ["--gpsd", "x", "--speed", "nan"],
  ])
  func `when a time is out of range, then the command line is rejected`(arguments: [String]) {
    #expect(throws: (any Error).self) { try GPSPlayerCommand.parse(arguments) }
    let possible = ["--gpsd", "x", "--start-at", "1e9", "--speed", "0.001"]
    #expect(throws: Never.self) { try GPSPlayerCommand.parse(possible) }
  }

  @Test func paceTakesJumpsForASecond() {
    var pace = Pace()
    for (time, elapsed) in [(10.0, 0.0), (10, 0), (12, 2), (11, 2), (30_000, 3)] {
      _ = pace.advance(to: time)
      #expect(pace.elapsed == elapsed)
    }
  }

  @Test(arguments: [
    // Sentences of one type stay an epoch behind the other's.
    [("A", 12.0, 0.0), ("B", 11, 0), ("A", 13, 1), ("B", 12, 1), ("A", 14, 2), ("B", 13, 2)],
    // Two receivers with different clocks.
    [("A", 12, 0), ("A", 9, 0), ("A", 13, 1), ("A", 10, 1), ("A", 14, 2), ("A", 11, 2), ("A", 15, 3)],
    // A clock that is set back in mid-log, and one that is set forward again.
    [("A", 700, 0), ("A", 701, 1), ("A", 100, 1), ("A", 101, 2), ("A", 102, 3), ("A", 800, 701)],
    // Midnight.
    [("A", 86_399, 0), ("B", 86_398, 0), ("A", 0, 1), ("B", 86_399, 1), ("A", 1, 2), ("B", 0, 2)],
  ])
  func `when times go back, then the log is as long as its longest clock ran`(steps: [(String, Double, Double)]) {
    var pace = Pace()
    for (type, time, elapsed) in steps {
      _ = pace.advance(to: time, of: type)
      #expect(pace.elapsed == elapsed)
    }
  }

  @Test func gpsdRecordingGreetsWithItsOwnWords() throws {
    let lines = [
      #"{"class":"VERSION","release":"3.17"}"#, #"{"class":"DEVICES","devices":[]}"#, #"{"class":"WATCH"}"#,
      #"{"class":"TPV","time":"2017-01-10T00:09:41.000Z"}"#, #"{"class":"SKY"}"#, "broken",
      #"{ "class" : "TPV", "time" : "2017-01-10T00:09:43.000Z" }"#,
    ]
    let recording = try GPSDReports.recording(lines: Array(lines.joined(separator: "\r\n").utf8), rate: nil)
    #expect(recording.greeting.version == lines[0])
    #expect(recording.greeting.devices == lines[1])
    #expect(recording.pieces.map(\.at) == [0, 0, 0, 2])
    #expect(recording.pieces[2].bytes == Array("broken\r\n".utf8))
  }

  @Test func mischiefIsInOrder() throws {
    let recording = Recording(pieces: (0..<6).map { .init(at: Double($0), bytes: [UInt8($0)], epochs: 1) })
    var mischief = Mischief(startAt: 1)
    mischief.silence = [try #require(SecondsSpan(argument: "2,4"))]
    mischief.closeAt = [4.5]
    mischief.away = [try #require(SecondsSpan(argument: "1.5,3"))]
    mischief.garbage = [[99], [98]]
    let steps = mischief.steps(of: recording).map { step in
      switch step.action {
      case .send(let piece): "\(piece.bytes[0])"
      case .closeConnections: "close"
      case .leave: "leave"
      case .comeBack: "back"
      }
    }
    #expect(steps == ["99", "1", "leave", "back", "98", "4", "close", "99", "5"])
    for text in ["", "1", "2,1", "1,1", "-1,2", "1,2,3", "a,b"] { #expect(SecondsSpan(argument: text) == nil) }
  }

  @Test func requests() {
    var requests = GPSDRequests()
    #expect(requests.append(#"?WATCH={"enable":true,"#.utf8).isEmpty)
    #expect(requests.append("\"json\":true};\n?POLL;hello\n".utf8) == [.watch(enable: true, json: true), .poll])
    #expect(requests.append("?WATCH={\"enable\":true,\"json\":tru};".utf8) == [.watch(enable: true, json: false)])
    #expect(requests.append("?A\"B=1\n".utf8) == [.unknown("AB")])
    let long = String(repeating: "x", count: 5000)
    #expect(requests.append("?\(long);?VERSION;".utf8) == [.version])
  }
}
