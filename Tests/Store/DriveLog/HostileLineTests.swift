import Coverage
import Foundation
import Testing

@testable import Store

/// Lines that a damaged disk, another program or a person with an editor can leave (docs/drive-log.md, Damage).
struct HostileLineTests {
  private static let ping = #"{"at":1.0,"ping":{"rtt_ms":20}}"#

  /// A good ping before and after the line shows whether the reader loses its place.
  private func read(_ line: String) throws -> RecordedDrive {
    let drive = try Log.read(Self.ping, line, Self.ping)
    #expect(drive.events.first == drive.events.last && drive.events.count >= 2)
    #expect(!drive.isTorn)
    return drive
  }

  @Test(
    "when a line is no possible event, then it is garbage with its number and a reason in one line",
    arguments: [
      "{", "}", "[]", "null", "1", #""at""#, #"{"ping":{"rtt_ms":1}}"#, #"{"at":null,"ping":{"rtt_ms":1}}"#,
      #"{"at":"1","ping":{"rtt_ms":1}}"#, #"{"at":1e9,"ping":{"rtt_ms":1}}"#, #"{"at":-1e9,"stop":{}}"#,
      #"{"at":1e400,"ping":{"rtt_ms":1}}"#, #"{"at":1,"ping":{}}"#, #"{"at":1,"ping":null}"#, #"{"at":1,"ping":[]}"#,
      #"{"at":1,"ping":{"rtt_ms":-0.001}}"#, #"{"at":1,"ping":{"rtt_ms":3600000.001}}"#,
      #"{"at":1,"ping":{"rtt_ms":"20"}}"#, #"{"at":1,"ping":{"error":7}}"#, #"{"at":1,"late":{"rtt_ms":-1}}"#,
      #"{"at":1,"late":{}}"#, #"{"at":1,"fix":{"latitude":91,"longitude":0}}"#,
      #"{"at":1,"fix":{"latitude":0,"longitude":-180.5}}"#, #"{"at":1,"fix":{"latitude":"48","longitude":16}}"#,
      #"{"at":1,"fix":7}"#, #"{"at":1,"path":"lte"}"#, #"{"at":1,"path":7}"#, #"{"at":1,"radio":7}"#,
      #"{"at":1,"session":{}}"#, #"{"at":1,"session":{"test_uuid":7}}"#, #"{"at":1,"session":null}"#,
      #"{"at":1,"session":{"test_uuid":"T","anchor":1e9}}"#, #"{"at":1,"clock_set":1e10}"#,
      #"{"at":1,"clock_set":"1"}"#,
      #"{"at":1,"clock":{}}"#, #"{"at":1,"seal":{"bytes":1.5,"crc32":"0"}}"#,
      #"{"at":1,"seal":{"bytes":1,"crc32":"xyz"}}"#,
      #"{"at":1,"seal":{"bytes":1,"crc32":"1ffffffff"}}"#, #"{"at":1,"forgotten":{}}"#,
      #"{"at":1,"forgotten":{"session":9223372036854775808}}"#, "\u{FEFF}" + #"{"at":1,"stop"#,
    ])
  func garbage(line: String) throws {
    let drive = try read(line)
    #expect(drive.events.count == 2)
    #expect(drive.garbage.map(\.number) == [3])
    let reason = try #require(drive.garbage.first).reason
    #expect(!reason.isEmpty && !reason.contains("\n") && reason.count < 200, "\(reason)")
  }

  @Test(
    "when a line names impossible fences that a server has, then it says nothing, and ends nothing",
    arguments: [
      "9223372036854775807,9223372036854775807", "9223372036854775806-9223372036854775807,0", "0,0", "3-1", "-1", "",
      "0-9223372036854775807",
    ])
  func impossibleAccepted(fences: String) throws {
    let line =
      #"{"at":0,"accepted":{"test_uuid":"a","anchor_us":0,"at_us":0,"fences":"\#(fences)","crc32":"00000000"}}"#
    #expect(try read(line).accepted.isEmpty)
  }

  @Test(
    "when a value is at an end of its range, then it is accepted",
    arguments: [
      (#"{"at":999999999.999999,"duplicate":{}}"#, DriveTime(microseconds: 999_999_999_999_999), Event.Kind.duplicate),
      (#"{"at":-999999999.0,"duplicate":{}}"#, DriveTime(microseconds: -999_999_999_000_000), .duplicate),
      (#"{"at":0,"ping":{"rtt_ms":0}}"#, .start, .ping(.answered(rttNanoseconds: 0))),
      (#"{"at":0.0,"ping":{"rtt_ms":3600000.0}}"#, .start, .ping(.answered(rttNanoseconds: 3_600_000_000_000))),
      (#"{"at":0,"late":{"rtt_ms":0.000001}}"#, .start, .late(rttNanoseconds: 1)),
      (#"{"at":0,"clock_set":-9999999999}"#, .start, .clockSet(by: .seconds(-9_999_999_999))),
      (#"{"at":0,"ping":{"error":"something new"}}"#, .start, .ping(.failed(.network))),
      (#"{"at":0,"stop":{"reason":"something new"}}"#, .start, .stop(.user)),
      (#"{"at":0,"path":null}"#, .start, .path(.offline)),
    ])
  func ends(line: String, at: DriveTime, kind: Event.Kind) throws {
    let drive = try read(line)
    #expect(drive.garbage.isEmpty)
    #expect(drive.events[1] == Event(at: at, kind))
  }

  @Test("when a line has an event of an unknown kind, then it is counted as unknown, not as garbage")
  func unknown() throws {
    for line in [#"{"at":1}"#, #"{"at":1,"speedtest":{"down":1}}"#, #"{"at":1,"comment":"\u0000"}"#] {
      let drive = try read(line)
      #expect(drive.unknownEvents == 1 && drive.garbage.isEmpty && drive.events.count == 2, "\(line)")
    }
  }

  @Test("when details of a ping have the wrong type, then the ping counts without them")
  func details() throws {
    for sequence in ["-1", "4294967296", "\"7\"", "1.5", "null", "{}"] {
      let drive = try read(#"{"at":1,"ping":{"rtt_ms":20},"sequence":\#(sequence)}"#)
      #expect(drive.events.count == 3 && drive.garbage.isEmpty, "\(sequence)")
      #expect(drive.pingSequences.isEmpty, "\(sequence)")
    }
    #expect(try read(#"{"at":1,"ping":{"rtt_ms":20},"sequence":4294967295}"#).pingSequences == [1: .max])
  }

  @Test("when bytes are not UTF-8, or a line has a zero byte, then that line alone is lost")
  func bytes() throws {
    for bytes in [[0xFF, 0xFE], [0x00], Array(#"{"at":1,"radio":""#.utf8) + [0xC3] + Array(#""}"#.utf8)] as [[UInt8]] {
      let text = Array((#"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"# + "\n").utf8)
      let ping = Array((Self.ping + "\n").utf8)
      let drive = try RecordedDrive(Data(text + ping + bytes + [0x0A] + ping))
      #expect(drive.events.filter { if case .ping = $0.kind { true } else { false } }.count == 2)
      #expect(drive.garbage.count + drive.events.count == 3)
    }
  }

  @Test("when a line is nested too deeply, then it is garbage, without a crash")
  func bomb() throws {
    let drive = try read(#"{"at":1,"x":"# + String(repeating: "[", count: 100_000))
    #expect(drive.garbage.map(\.number) == [3])
  }

  @Test("when lines end as on other systems, or are blank, then all events are read")
  func lineEnds() throws {
    let lines = [
      #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#, Self.ping, "", "\t ", Self.ping,
      "",
    ]
    let drive = try RecordedDrive(Data(lines.joined(separator: "\r\n").utf8))
    #expect(drive.events.count == 2)
    #expect(drive.garbage.isEmpty && !drive.isTorn)
  }

  @Test("when a log is cut off at any byte, then every whole line before the cut is read, and no event is invented")
  func cuts() throws {
    let lines = [
      #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#, Self.ping,
      #"{"at":2.0,"path":"wifi"}"#, #"{"at":3.5,"radio":"4G/LTE"}"#, #"{"at":30.0,"stop":{}}"#,
    ]
    let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
    let whole = try RecordedDrive(Data(bytes)).events
    for length in lines[0].utf8.count...bytes.count {
      let drive = try RecordedDrive(Data(bytes.prefix(length)))
      let ended = bytes.prefix(length).count { $0 == 0x0A }
      #expect(drive.garbage.isEmpty)
      #expect(whole.starts(with: drive.events), "cut at \(length)")
      // A line without its line feed counts when it is complete.
      #expect(drive.events.count == max(0, ended - 1) || drive.events.count == ended, "cut at \(length)")
    }
  }

  // MARK: Seals

  private static let header =
    #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular","sealed":true}"#

  @Test("when a seal claims any number of bytes, then the events before it are in doubt, and nothing overflows")
  func absurdSeals() throws {
    for bytes in [Int64.min, -1, 0, 1, .max] {
      let seal = #"{"at":1.0,"seal":{"bytes":\#(bytes),"crc32":"00000000"}}"#
      let drive = try RecordedDrive(
        Data([Self.header, Self.ping, seal, seal, Self.ping, seal, ""].joined(separator: "\n").utf8))
      #expect(drive.events.count == 2)
      #expect(drive.unsealed.first?.contains(0) == true, "\(bytes)")
      #expect(!drive.isHeaderSealed)
    }
  }

  @Test("when a log announces seals but has no seal, then all its events are in doubt")
  func noSeals() throws {
    let drive = try RecordedDrive(Data([Self.header, Self.ping, Self.ping, ""].joined(separator: "\n").utf8))
    #expect(drive.unsealed == [0..<2])
    let plain = try Log.read(Self.ping, Self.ping)
    #expect(plain.unsealed.isEmpty && plain.isHeaderSealed, "a log of an earlier build")
  }

  // MARK: Notes on clocks

  @Test("when a clock note has only the required member, then the rest is unknown; an absurd lead is unknown too")
  func clockNotes() throws {
    let drive = try read(#"{"at":1,"clock":{"ruled_by":"gnss"}}"#)
    let note = try #require(drive.clocks.first)
    #expect((note.ruledBy, note.because, note.hostAhead) == ("gnss", "", nil))
    #expect(note.agreeing.isEmpty && note.contradicting.isEmpty)
    for lead in ["1e10", "-1e300"] {
      let note = try read(#"{"at":1,"clock":{"ruled_by":"gnss","host_ahead":\#(lead)}}"#).clocks.first
      #expect(note != nil && note?.hostAhead == nil)
    }
  }
}
