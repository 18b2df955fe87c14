import Coverage
import Foundation

@testable import Store

/// A file in a directory of its own, which is deleted with the test.
final class Scratch {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  var path: String { directory.appendingPathComponent("drive.jsonl").path }

  var lines: [Substring] {
    get throws { try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") }
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}

enum Log {
  static let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#
  static let plainHeader = DriveLogHeader(
    started: WallTime(microseconds: 1_795_168_800_000_000), initialPath: .cellular, parameters: nil,
    isSealed: false)

  /// Reads a log of these lines, each of them whole.
  static func read(_ lines: String...) throws -> RecordedDrive {
    try RecordedDrive(Data(([header] + lines).joined(separator: "\n").utf8) + Data("\n".utf8))
  }

  /// Writes events and reads them back.
  static func roundTrip(_ events: [Event], header: DriveLogHeader = plainHeader) throws -> RecordedDrive {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: header)
    for event in events { try writer.append(event) }
    return try RecordedDrive(path: scratch.path)
  }
}

extension Event {
  static func at(_ seconds: Double, _ kind: Kind) -> Event {
    Event(at: DriveTime(microseconds: Int64((seconds * 1e6).rounded())), kind)
  }
}
