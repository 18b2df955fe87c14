import Coverage
import Foundation
import OrderedJSON
import Testing

@testable import Store

/// The first line of a drive log of this build, of earlier builds and of later builds (docs/drive-log.md).
struct HeaderTests {
  private static let started = WallTime(microseconds: 1_795_168_800_123_456)

  private func read(_ members: String) throws -> DriveLogHeader {
    let line = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z"\#(members)}"#
    return try RecordedDrive(Data((line + "\n").utf8)).header
  }

  @Test("when a header has everything, then its line has exactly these bytes, with the start truncated to milliseconds")
  func line() {
    var parameters = Parameters()
    (parameters.minimumRadius, parameters.accuracyLimit, parameters.speedLimit) = (22.5, 11, nil)
    (parameters.warningAfter, parameters.giveUpAfter) = (.milliseconds(1500), .seconds(77))
    parameters.maximumDuration = .seconds(600)
    let header = DriveLogHeader(
      started: Self.started, initialPath: .wifi, parameters: parameters,
      pings: .init(interval: .milliseconds(100), timeout: .seconds(1)), link: "A",
      declared: ["network": "fixed-cellular", "radio": "fixed:5G/NR"])
    #expect(
      header.json.text == #"{"drive":1,"started":"2026-11-20T10:00:00.123Z","link":"A","initial_path":"wifi","#
        + #""parameters":{"minimum_radius":22.5,"accuracy_limit":11.0,"warning_after":1.5,"give_up_after":77.0,"#
        + #""maximum_duration":600.0},"pings":{"interval":0.1,"timeout":1.0},"#
        + #""declared":{"network":"fixed-cellular","radio":"fixed:5G/NR"},"sealed":true}"#)
    let least = DriveLogHeader(started: Self.started, initialPath: .offline, parameters: nil, isSealed: false)
    #expect(least.json.text == #"{"drive":1,"started":"2026-11-20T10:00:00.123Z","initial_path":"none"}"#)
  }

  @Test(
    "when the version is unknown, then the error names it; a version of another type is no header",
    arguments: [
      ("0", DriveLogError.unsupportedVersion(0)), ("-1", .unsupportedVersion(-1)), ("2", .unsupportedVersion(2)),
      ("9223372036854775807", .unsupportedVersion(.max)), ("null", .notADriveLog),
      ("\"1\"", .badHeader("\"drive\" has the wrong type")), ("true", .badHeader("\"drive\" has the wrong type")),
    ])
  func versions(version: String, expected: DriveLogError) {
    // A later version may lack members that this one needs.
    #expect(throws: expected) { try RecordedDrive(Data("{\"drive\":\(version)}\n".utf8)) }
  }

  @Test("when a later build adds members, then they are ignored at every level")
  func laterMembers() throws {
    let header = try read(
      #","initial_path":"wifi","new":{"a":[1]},"parameters":{"minimum_radius":9.5,"new":1},"pings":{"interval":1,"timeout":2,"new":1}"#
    )
    #expect(header.initialPath == .wifi)
    #expect(header.parameters?.minimumRadius == 9.5)
    #expect(header.pings == .init(interval: .seconds(1), timeout: .seconds(2)))
  }

  @Test("when parameters are absent or null, then the engine's defaults apply; the speed limit has no default")
  func absentParameters() throws {
    var expected = Parameters()
    expected.speedLimit = nil
    #expect(try read(#","parameters":{}"#).parameters == expected)
    #expect(try read(#","parameters":{"give_up_after":null,"minimum_radius":null}"#).parameters == expected)
    #expect(try read(#","parameters":{"give_up_after":1e9,"warning_after":-1e300}"#).parameters == expected)
  }

  @Test(
    "when a member that the engine needs has another type, then the error names it in one line",
    arguments: [
      (#","initial_path":7"#, "\"initial_path\" has the wrong type"),
      (#","parameters":7"#, "\"parameters\" has the wrong type"),
      (#","parameters":{"accuracy_limit":"5"}"#, "\"parameters.accuracy_limit\" has the wrong type"),
      (#","parameters":{"maximum_duration":[]}"#, "\"parameters.maximum_duration\" has the wrong type"),
      (#","parameters":{"speed_limit":{}}"#, "\"parameters.speed_limit\" has the wrong type"),
    ])
  func wrongTypes(members: String, reason: String) {
    let error = DriveLogError.badHeader(reason)
    #expect(throws: error) { try read(members) }
    #expect("\(error)" == "the first line of the drive log is not a header: \(reason)")
  }

  @Test("when a descriptive member has another type, then it counts as absent, and the drive is read")
  func describing() throws {
    let header = try read(#","link":7,"sealed":"yes","pings":"often""#)
    #expect(header.link == nil && header.pings == nil && !header.isSealed)
    #expect(try read(#","declared":7"#).declared == [:] && read(#","declared":{"radio":7,"x":"y"}"#).declared == [:])
    #expect(try read(#","declared":{"radio":"command"}"#).declared == ["radio": "command"])
    #expect(try read(#","sealed":null,"link":null"#).link == nil)
    #expect(try read(#","sealed":true,"link":"B-2""#).link == "B-2")
  }

  @Test(
    "when the start is no time of this form, then the error repeats it",
    arguments: ["", "2026-11-20", "2026-11-20T10:00:00", "2026-13-20T10:00:00.000Z", "20 Nov 2026", "1795168800"])
  func starts(text: String) {
    let line = #"{"drive":1,"started":"\#(text)"}"#
    #expect(throws: DriveLogError.badStart(text)) { try RecordedDrive(Data(line.utf8)) }
  }

  @Test("when the header lacks its start, then the error names the member")
  func withoutStart() {
    #expect(throws: DriveLogError.badHeader("\"started\" is missing")) { try RecordedDrive(Data(#"{"drive":1}"#.utf8)) }
  }

  @Test("when a log cannot be used, then the error gives the reason in one line")
  func errors() {
    let lines: [(DriveLogError, String)] = [
      (.unreadable(path: "a", reason: "b"), "cannot read drive log a: b"),
      (.unwritable(path: "a", reason: "b"), "cannot write drive log a: b"),
      (.notADriveLog, "not a drive log: the first line must be an object with \"drive\":1"),
      (.unsupportedVersion(2), "drive log of version 2: this program reads version 1"),
      (.badStart("x"), "drive log starts at \"x\": expected a time like 2026-11-20T10:00:00.000Z"),
      (.badPath("x"), "drive log has initial_path \"x\": expected cellular, wifi or none"),
    ]
    for (error, line) in lines { #expect("\(error)" == line) }
  }
}
