import Foundation
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// `verify` with files that it cannot read; Tests/EndToEnd has it with drives.
struct VerifyingTests {
  private let folder: TemporaryFolder
  private let log: String

  init() throws {
    folder = try TemporaryFolder()
    log = try folder.write(
      #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"# + "\n", to: "drive.jsonl")
  }

  private func complaint(drive: String, captures: [String]) throws -> String {
    let error = #expect(throws: (any Error).self) {
      try Verifying(path: drive, captures: captures, limit: .microseconds(50))
    }
    let line = "\(try #require(error))"
    #expect(!line.contains("\n"))
    return line.replacing(folder.path + "/", with: "")
  }

  @Test("when a file cannot be read, then one line names it and says why")
  func unreadable() throws {
    let text = try folder.write("no capture", to: "text")
    #expect(
      try complaint(drive: folder.file("none"), captures: [text]).hasPrefix(
        "cannot read none: No such file or directory"))
    #expect(
      try complaint(drive: text, captures: [text])
        == #"text: not a drive log: the first line must be an object with "drive":1"#)
    #expect(
      try complaint(drive: log, captures: [folder.file("gone")]).hasPrefix(
        "cannot read gone: No such file or directory"))
    #expect(
      try complaint(drive: log, captures: [text])
        == "text: not a capture file: unknown file format")
    #expect(try complaint(drive: folder.path, captures: [text]).hasSuffix(": Is a directory"))
    #expect(try complaint(drive: log, captures: ["/dev/null"]).hasPrefix("/dev/null: not a capture file"))
  }

  @Test("when the log has the counters of the capture, then missing packets are reported; without them it was cut off")
  func counters() throws {
    #expect(try Verifying(path: log, captures: [], limit: .microseconds(50)).complaints.count == 1)
    let header = try String(contentsOfFile: log, encoding: .utf8)
    let note =
      #"{"at":0.0,"capture":{"packets":7,"dropped_by_kernel":2,"dropped_by_interface":1,"unwritten":9223372036854775807}}"#
    let whole = try folder.write(header + note + "\n", to: "whole.jsonl")
    let verifying = try Verifying(path: whole, captures: [], limit: .microseconds(50))
    #expect(verifying.complaints.isEmpty)
    #expect(verifying.lines.contains("9223372036854775807 packets are missing from the capture, by the drive log"))
  }

  @Test("when no ping matches, then the verdict says so, and the command fails")
  func nothing() throws {
    let empty = try folder.write("\n\r\r\n", to: "empty.pcap")
    #expect(try complaint(drive: log, captures: [empty]).hasPrefix("empty.pcap: not a capture file"))
    let verifying = try Verifying(path: log, captures: [], limit: .microseconds(50))
    #expect(verifying.outcome == .failed)
    #expect(verifying.lines.last == "the two differ: no ping of the drive log is in the capture")
  }
}
