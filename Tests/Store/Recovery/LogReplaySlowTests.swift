import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// Which fences of a log are certain.
struct LogReplaySlowTests {
  @Test("when a log is whole, then all fences that ended are certain, and so is the end")
  func whole() throws {
    let road = try Road(fences: 12)
    let replay = LogReplay(try RecordedDrive(road.log), path: "p")
    #expect(replay.drive.fences == road.ended)
    #expect(replay.drive.stopped?.reason == .user)
    #expect(replay.endedFences == road.ended.count)
  }

  @Test("when digits of a log are damaged, then no fence is built from them")
  func damagedDigits() throws {
    let road = try Road(fences: 12)
    var log = road.log
    let place = try #require(log.range(of: Data("\"latitude\":48.20".utf8), in: log.count / 2..<log.count))
    log[place.upperBound - 1] ^= 1
    let replay = LogReplay(try RecordedDrive(log), path: "p")
    #expect(!replay.drive.fences.isEmpty && replay.drive.fences.count < road.ended.count)
    #expect(Set(replay.drive.fences).isSubset(of: Set(road.ended)))
    #expect(replay.drive.stopped == nil, "later lines of the log are not certain either")
  }

  @Test("when lines are missing together with their seal, then the gap is detected")
  func missingBlock() throws {
    let road = try Road(fences: 12)
    let lines = road.log.split(separator: UInt8(ascii: "\n"))
    let seals = lines.indices.filter { lines[$0].range(of: Data("\"seal\"".utf8)) != nil }
    let cut = lines[...seals[3]] + lines[(seals[4] + 1)...]
    let log = Data(cut.flatMap { $0 + [UInt8(ascii: "\n")] })
    let replay = LogReplay(try RecordedDrive(log), path: "p")
    #expect(replay.drive.fences.count < road.ended.count && Set(replay.drive.fences).isSubset(of: Set(road.ended)))
  }

  @Test("when a log of an earlier build has no seals, then all its fences count")
  func unsealed() throws {
    let road = try Road(fences: 12)
    let lines = String(decoding: road.log, as: UTF8.self).split(separator: "\n")
    let old =
      lines.filter { !$0.contains("\"seal\"") }.joined(separator: "\n").replacing(",\"sealed\":true", with: "") + "\n"
    #expect(LogReplay(try RecordedDrive(Data(old.utf8)), path: "p").drive.fences == road.ended)
  }

  @Test("when a log ends in mid-fence, as a kill leaves it, then the fences that ended before are certain")
  func killed() throws {
    let road = try Road(fences: 12, isCut: true)
    let replay = LogReplay(try RecordedDrive(road.log), path: "p")
    #expect(replay.drive.fences == road.ended)
    #expect(replay.drive.stopped == nil)
  }

  @Test("when a session was forgotten, then nothing of it is recovered, and the rest of the log still counts")
  func forgotten() throws {
    let road = try Road(fences: 12)
    let folder = try TemporaryFolder()
    let path = folder.file("log")
    try road.log.write(to: URL(fileURLWithPath: path))
    try DriveLogWriter.noteForgotten(session: 1, in: path)
    #expect(LogReplay(try RecordedDrive(path: path), path: path).drive.fences == road.ended)
    try DriveLogWriter.noteForgotten(session: 0, in: path)
    let replay = LogReplay(try RecordedDrive(path: path), path: path)
    #expect(replay.drive.fences.isEmpty && replay.drive.sessions.isEmpty && replay.endedFences == 0)
    #expect(replay.drive.stopped != nil)
  }

  @Test("when a note behind the end is cut off or damaged, then all of the drive is certain", arguments: ["", "\n"])
  func tornNote(end: String) throws {
    let road = try Road(fences: 12)
    let log = road.log + Data("\n{\"at\":0.0,\"accep\(end)".utf8)
    let replay = LogReplay(try RecordedDrive(log), path: "p")
    #expect(replay.drive.fences == road.ended)
    #expect(replay.drive.stopped?.reason == .user)
  }
}
