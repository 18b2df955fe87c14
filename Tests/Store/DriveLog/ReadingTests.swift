import Coverage
import Foundation
import Testing

@testable import Store

/// The content of a drive log (docs/drive-log.md).
@Suite struct ReadingTests {
  @Test func `when the log is the contract's example, then all of it is read`() throws {
    let drive = try Log.read(
      #"{"at":0.0,"fix":{"latitude":48.2082,"longitude":16.3738,"accuracy":5.0,"altitude":171.3,"course":87.0,"#
        + #""speed":13.4}}"#,
      #"{"at":0.1,"ping":{"rtt_ms":31.67}}"#, #"{"at":0.2,"ping":{"error":"timeout"}}"#, #"{"at":3.0,"path":"wifi"}"#,
      #"{"at":3.5,"radio":"4G/LTE"}"#, #"{"at":6.0,"session":{"test_uuid":"T1"}}"#, #"{"at":30.0,"stop":{}}"#)
    let fix = Fix(
      coordinate: Coordinate(latitude: 48.2082, longitude: 16.3738), accuracy: 5, altitude: 171.3, course: 87,
      speed: 13.4)
    #expect(
      drive.events == [
        .at(0, .fix(fix)), .at(0.1, .ping(.answered(rttNanoseconds: 31_670_000))), .at(0.2, .ping(.failed(.timeout))),
        .at(3, .path(.wifi)), .at(3.5, .radio(Technology("4G/LTE"))), .at(6, .session(SessionGrant(testUUID: "T1"))),
        .at(30, .stop(.user)),
      ])
    #expect(drive.header == Log.plainHeader)
    #expect(drive.garbage.isEmpty && drive.unknownEvents == 0 && !drive.isTorn)
  }

  @Test(arguments: [
    #"{}"#, "null", #"{"latitude":48.2}"#, #"{"longitude":16.3}"#, #"{"latitude":null,"longitude":null}"#,
  ])
  func `when a fix has no place, then the position is not known`(fix: String) throws {
    #expect(try Log.read(#"{"at":1,"fix":\#(fix)}"#).events == [.at(1, .fix(.lost))])
  }

  @Test func `when a file is longer than memory, as on a damaged file system, then it is refused by its size`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "huge-\(UUID()).jsonl").path
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try #require(truncate(path, 1 << 42) == 0)
    let error = #expect(throws: DriveLogError.self) { try RecordedDrive(path: path) }
    #expect(error == .unreadable(path: path, reason: "it is longer than 1073741824 bytes"))
  }

  @Test func `when values of a fix are absent or null, then they are unknown`() throws {
    let drive = try Log.read(#"{"at":1,"fix":{"latitude":48,"longitude":16,"accuracy":null}}"#)
    #expect(drive.events == [.at(1, .fix(Fix(coordinate: Coordinate(latitude: 48, longitude: 16))))])
  }

  @Test func `when the modem has no technology, then radio is null`() throws {
    #expect(try Log.read(#"{"at":1,"radio":null}"#).events == [.at(1, .radio(nil))])
  }

  @Test func `when a session has an anchor, then it is read`() throws {
    let drive = try Log.read(#"{"at":6.0,"session":{"test_uuid":"T1","anchor":5.25}}"#)
    let grant = SessionGrant(testUUID: "T1", anchor: DriveTime(microseconds: 5_250_000))
    #expect(drive.events == [.at(6, .session(grant))])
  }

  @Test(arguments: [(0.0, nil), (-5, nil), (0.0000001, nil), (60, 60)])
  func `when a session has a limit, then only a limit above zero counts`(limit: Double, seconds: Int?) throws {
    let drive = try Log.read(#"{"at":6.0,"session":{"test_uuid":"T1","maximum_duration":\#(limit)}}"#)
    let grant = SessionGrant(testUUID: "T1", maximumDuration: seconds.map { .seconds($0) })
    #expect(drive.events == [.at(6, .session(grant))])
  }

  @Test(arguments: Path.allCases)
  func `when the path is one of three, then it is read`(path: Path) throws {
    #expect(try Log.read(#"{"at":1,"path":"\#(path.rawValue)"}"#).events == [.at(1, .path(path))])
  }

  @Test func `when a late ping comes, then the order of the lines is kept`() throws {
    let drive = try Log.read(
      #"{"at":5.0,"fix":{}}"#, #"{"at":4.2,"ping":{"rtt_ms":1}}"#, #"{"at":4.1,"ping":{"rtt_ms":1}}"#)
    #expect(drive.events.map(\.at.microseconds) == [5_000_000, 4_200_000, 4_100_000])
  }

  @Test func `when events are of unknown kinds, then they are skipped and counted`() throws {
    let drive = try Log.read(
      #"{"at":1,"battery":{"percent":80}}"#, #"{"at":2,"path":"none"}"#, #"{"at":3,"note":"x"}"#, #"{"at":4}"#)
    #expect(drive.events == [.at(2, .path(.offline))])
    #expect(drive.unknownEvents == 3)
    #expect(drive.garbage.isEmpty)
  }

  @Test func `when a line is a clock note, then it is no event, and no event of unknown kind`() throws {
    let drive = try Log.read(
      #"{"at":1,"path":"none"}"#,
      #"{"at":2,"clock":{"ruled_by":"gnss","because":"two clocks agree","agreeing":["gnss","server"],"contradicting":["host"],"host_ahead":7200.5}}"#,
      #"{"at":3,"clock":{"ruled_by":"host"}}"#, #"{"at":4,"clock":7}"#)
    #expect(drive.events == [.at(1, .path(.offline))])
    #expect(drive.unknownEvents == 0)
    #expect(drive.clocks.map(\.ruledBy) == ["gnss", "host"])
    #expect(drive.clocks[0].agreeing == ["gnss", "server"] && drive.clocks[0].contradicting == ["host"])
    #expect(drive.clocks[0].hostAhead == .milliseconds(7_200_500) && drive.clocks[1].hostAhead == nil)
    #expect(drive.garbage.map(\.number) == [5])
  }

  @Test func `when a clock note is written, then it is the contract's line, and it reads back the same`() throws {
    var clock = WallClock()
    let booted = WallTime(microseconds: 1_795_168_800_000_000)
    for second in 1...10 {
      let boot = Duration.seconds(second)
      clock.note(gnss: booted.adding(boot), receiver: "/dev/gps0", at: boot)
      clock.select(host: booted.adding(boot), at: boot)
    }
    let selection = clock.select(host: booted.adding(.seconds(7211)), at: .seconds(11))
    let note = ClockNote(selection: selection, hostLead: .seconds(7200), at: DriveTime(microseconds: 1_500_000))
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    try writer.append(note)
    #expect(
      try scratch.lines[1]
        == #"{"at":1.5,"clock":{"ruled_by":"gnss","because":"another clock contradicts the step of the host's clock","agreeing":["gnss"],"contradicting":["host"],"host_ahead":7200.0}}"#
    )
    #expect(try RecordedDrive(path: scratch.path).clocks == [note])
  }

  @Test func `when an event has extra members, then they are ignored`() throws {
    let drive = try Log.read(#"{"at":1,"ping":{"rtt_ms":2,"late":true},"sequence":7}"#)
    #expect(drive.events == [.at(1, .ping(.answered(rttNanoseconds: 2_000_000)))])
  }

  @Test func `when lines are empty or end as on Windows, then the log is still read`() throws {
    let drive = try Log.read("", #"{"at":1,"path":"wifi"}"# + "\r", "  ", #"{"at":2,"stop":{}}"#)
    #expect(drive.events == [.at(1, .path(.wifi)), .at(2, .stop(.user))])
    #expect(drive.garbage.isEmpty)
  }

  @Test func `when a stop has a reason, then the reason is read`() throws {
    #expect(try Log.read(#"{"at":1,"stop":{"reason":"duration"}}"#).events == [.at(1, .stop(.duration))])
  }
}
