import Coverage
import Foundation
import Testing

@testable import Store

/// Damaged logs, and files that are no logs.
@Suite struct DamageTests {
  @Test(arguments: [
    "garbage", "{", #"{"at":1,"ping":"#, "\u{0}\u{0}\u{0}", #"{"ping":{"rtt_ms":1}}"#, #"{"at":"x","stop":{}}"#,
    #"{"at":null,"stop":{}}"#, #"{"at":1e300,"stop":{}}"#, #"{"at":1,"ping":{}}"#,
    #"{"at":1,"ping":{"rtt_ms":"fast"}}"#,
    #"{"at":1,"ping":{"rtt_ms":-1}}"#, #"{"at":1,"ping":7}"#, #"{"at":1,"path":"ethernet"}"#, #"{"at":1,"path":3}"#,
    #"{"at":1,"radio":5}"#, #"{"at":1,"session":{}}"#, #"{"at":1,"fix":{"latitude":91,"longitude":0}}"#,
    #"{"at":1,"fix":{"latitude":"north","longitude":0}}"#, "[1,2]", "42", #""text""#, "null", #"{"at":1}{"at":2}"#,
  ])
  func `when a line is garbage, then it is reported with its number and a one-line reason, and the rest is read`(
    line: String
  ) throws {
    let drive = try Log.read(#"{"at":1,"path":"wifi"}"#, line, #"{"at":2,"stop":{}}"#)
    #expect(drive.events == [.at(1, .path(.wifi)), .at(2, .stop(.user))])
    #expect(drive.garbage.map(\.number) == [3])
    let reason = try #require(drive.garbage.first?.reason)
    #expect(!reason.isEmpty && !reason.contains("\n") && !reason.contains("DecodingError"), "\(reason)")
    #expect(!drive.isTorn)
  }

  @Test(arguments: [Int64.min, .max])
  func `when a seal names a byte at the end of 64 bits, then it confirms nothing`(byte: Int64) throws {
    let seals = [100, byte, byte, 0].map { #"{"at":1,"seal":{"bytes":\#($0),"crc32":"0"}}"# }
    let drive = try RecordedDrive(
      Data(([Log.header] + seals + [#"{"at":2,"stop":{}}"#]).map { $0 + "\n" }.joined().utf8))
    #expect(drive.events == [.at(2, .stop(.user))])
    #expect(!drive.isHeaderSealed && drive.garbage.isEmpty && !drive.unsealed.isEmpty)
  }

  @Test func `when bytes are no UTF-8, then their line is garbage`() throws {
    let data = Data(Log.header.utf8) + Data([0x0A, 0x22, 0xFF, 0xFE, 0x22, 0x0A]) + Data(#"{"at":2,"stop":{}}"#.utf8)
    let drive = try RecordedDrive(data)
    #expect(drive.garbage.map(\.number) == [2])
    #expect(drive.events == [.at(2, .stop(.user))])
  }

  @Test func `when the log is cut anywhere, then whole lines are read and the torn line is no error`() throws {
    let lines = [Log.header, #"{"at":1.0,"ping":{"rtt_ms":31.67}}"#, #"{"at":2.0,"path":"wifi"}"#]
    let whole = Data((lines.joined(separator: "\n") + "\n").utf8)
    let (first, second) = (lines[0].utf8.count, lines[0].utf8.count + 1 + lines[1].utf8.count)
    for length in first...whole.count {
      let drive = try RecordedDrive(Data(whole.prefix(length)))
      let complete = length >= whole.count - 1 ? 2 : length >= second ? 1 : 0
      #expect(drive.events.count == complete, "cut at \(length)")
      #expect(drive.garbage.isEmpty, "cut at \(length)")
      let isTorn = ![first, first + 1, second, second + 1, whole.count - 1, whole.count].contains(length)
      #expect(drive.isTorn == isTorn, "cut at \(length)")
    }
  }

  @Test func `when a bad line ends with a line break, then it is garbage and not torn`() throws {
    let drive = try Log.read(#"{"at":1.0,"pi"#)
    #expect(drive.garbage.map(\.number) == [2])
    #expect(!drive.isTorn)
  }

  @Test(arguments: [
    ("", DriveLogError.notADriveLog), ("\n", .notADriveLog), ("hello", .notADriveLog), ("[]", .notADriveLog),
    (#"{"started":"2026-11-20T10:00:00.000Z"}"#, .notADriveLog), (#"{"drive":"#, .notADriveLog),
    (#"{"drive":2,"started":"2026-11-20T10:00:00.000Z"}"#, .unsupportedVersion(2)),
    (#"{"drive":1,"started":"yesterday"}"#, .badStart("yesterday")),
    (#"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"tram"}"#, .badPath("tram")),
  ])
  func `when the first line is no header, then the error names the cause`(
    text: String, error: DriveLogError
  ) throws {
    #expect(throws: error) { try RecordedDrive(Data(text.utf8)) }
    #expect(!error.description.contains("\n"))
  }

  @Test func `when the header has no path, then the path is cellular`() throws {
    let drive = try RecordedDrive(Data(#"{"drive":1,"started":"2026-11-20T10:00:00.000Z"}"#.utf8))
    #expect(drive.header == Log.plainHeader)
    #expect(drive.events.isEmpty && !drive.isTorn)
  }

  @Test func `when there is no file, then the error has its path and the reason`() throws {
    let path = try Scratch().path
    do {
      _ = try RecordedDrive(path: path)
      Issue.record("read a file that is not there")
    } catch {
      #expect("\(error)".hasPrefix("cannot read drive log \(path): "))
      #expect("\(error)".count > "cannot read drive log \(path): ".count)
      #expect(!"\(error)".contains("\n"))
    }
  }

  @Test(arguments: [[Int64.max, Int64.min], [Int64.max - 100, -1000], [1000, Int64.min], [Int64.min, Int64.max]])
  func `when seals name bytes at the ends of 64 bits, then they confirm nothing`(bytes: [Int64]) throws {
    let drive = try Log.read(
      #"{"at":1,"path":"wifi"}"#, #"{"at":1,"seal":{"bytes":\#(bytes[0]),"crc32":"00000000"}}"#,
      #"{"at":2,"path":"none"}"#, #"{"at":2,"seal":{"bytes":\#(bytes[1]),"crc32":"00000000"}}"#)
    #expect(drive.events.count == 2 && drive.garbage.isEmpty)
    #expect(drive.unsealed == [0..<1, 1..<2])
  }
}
