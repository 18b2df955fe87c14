import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// The lines behind the end of a drive log: fences that the control server has, and the counters of a capture.
struct AcceptedFencesTests {
  private let accepted = AcceptedFences(
    testUUID: "T1", anchor: .sampleStart, accepted: .sampleStart.later(by: .seconds(60)), fences: [4, 0, 1, 2, 9])

  private let capture = CaptureNote(packets: 70, droppedByKernel: 5, droppedByInterface: 1, unwritten: 6)

  private func log(_ change: (String) -> String = { $0 }) throws -> RecordedDrive {
    let scratch = try Scratch()
    do {
      let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
      try writer.append(.at(1, .stop(.user)))
      try writer.seal(at: .seconds(1))
    }
    try DriveLogWriter.note(capture, in: scratch.path)
    try DriveLogWriter.note(accepted, in: scratch.path)
    let text = try String(contentsOfFile: scratch.path, encoding: .utf8)
    #expect(text.contains(#""fences":"0-2,4,9""#))
    return try RecordedDrive(Data(change(text).utf8))
  }

  @Test(
    "when the server has accepted fences and a capture ended, then both lines are read again, and the log stays sealed")
  func roundTrip() throws {
    let drive = try log()
    #expect(drive.accepted == [accepted])
    #expect((drive.capture, drive.capture?.missing) == (capture, 12))
    #expect(drive.unsealed.isEmpty && drive.unsealedTail == nil && drive.garbage.isEmpty && drive.unknownEvents == 0)
  }

  @Test(
    "when a byte of the line was changed, then it says nothing: no fence is kept from being sent",
    arguments: [("0-2,4", "0-2,5"), ("0-2,4", "0-9999999"), ("0-2,4", "2-0,-"), (#""T1""#, #""T2""#)])
  func changed(_ old: String, _ new: String) throws {
    let drive = try log { $0.replacing(old, with: new) }
    #expect(drive.accepted.isEmpty && drive.unknownEvents == 1)
  }
}
