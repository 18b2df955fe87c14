import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

@Suite(.serialized) struct WriterTests {
  private let line = #"{"at":1.0,"path":"wifi"}"#
  private let event = Event.at(1, .path(.wifi))

  @Test func `when an event is appended, then it is in the file at once`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    #expect(try scratch.lines.count == 1)
    try writer.append(event)
    #expect(try scratch.lines.last == line[...])
  }

  @Test func `when the file exists already, then it is left unchanged`() throws {
    let scratch = try Scratch()
    try Data("precious".utf8).write(to: URL(fileURLWithPath: scratch.path))
    let error = DriveLogError.unwritable(path: scratch.path, reason: "File exists")
    #expect(throws: error) { try DriveLogWriter(path: scratch.path, header: Log.plainHeader) }
    #expect(try scratch.lines == ["precious"])
  }

  @Test func `when the directory is missing, then the error has the file and the reason`() throws {
    let path = "/nowhere/drive.jsonl"
    let error = DriveLogError.unwritable(path: path, reason: "No such file or directory")
    #expect(throws: error) { try DriveLogWriter(path: path, header: Log.plainHeader) }
    #expect(error.description == "cannot write drive log /nowhere/drive.jsonl: No such file or directory")
  }

  @Test func `when the disk is full for a while, then each append fails and no line is lost`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let disk = try #require(FullDisk(at: scratch.path))
    let error = DriveLogError.unwritable(path: scratch.path, reason: "No space left on device")
    for _ in 0..<3 { #expect(throws: error) { try writer.append(event) } }
    disk.makeRoom()
    try writer.append(.at(2, .stop(.user)))
    let lines = try scratch.lines
    #expect(lines.dropFirst() == [line[...], line[...], line[...], #"{"at":2.0,"stop":{}}"#])
    #expect(writer.linesDropped == 0)
  }

  @Test(.enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func `when there is no inode for the file, then its lines wait in memory until there is one`() throws {
    let folder = try TemporaryFolder()
    try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=1m,nr_inodes=2") == 0)
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    let other = folder.file("other")
    try Data().write(to: URL(fileURLWithPath: other))
    #expect(throws: DriveLogError.self) { try DriveLogWriter(path: folder.file("log"), header: Log.plainHeader) }
    let writer = try DriveLogWriter(path: folder.file("log"), header: Log.plainHeader, waitsForRoom: true)
    #expect(writer.trouble?.contains("the disk has no inodes left; delete some files") == true)
    #expect(throws: DriveLogError.self) { try writer.append(event) }
    #expect(throws: DriveLogError.self) { try writer.sync() }
    unlink(other)
    try writer.append(.at(2, .stop(.user)))
    let kept = try RecordedDrive(path: folder.file("log"))
    #expect(kept.events == [event, .at(2, .stop(.user))] && writer.linesDropped == 0)
  }

  @Test func `when a log is sealed, then a reader confirms its events until one is changed`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    for second in 1...4 {
      try writer.append(.at(Double(second), .path(.wifi)))
      if second % 2 == 0 { try writer.seal(at: .start) }
    }
    try writer.seal(at: .start)
    #expect(try RecordedDrive(path: scratch.path).unsealed.isEmpty)
    let text = try String(contentsOfFile: scratch.path, encoding: .utf8)
    let changed = try RecordedDrive(Data(text.replacing(#""at":3.0"#, with: #""at":3.5"#).utf8))
    #expect(changed.unsealed == [2..<4] && changed.isHeaderSealed && changed.unknownEvents == 0)
    let header = try RecordedDrive(Data(text.replacing("cellular", with: "none").utf8))
    #expect(header.unsealed == [0..<2] && !header.isHeaderSealed)
    try writer.append(.at(5, .path(.wifi)))
    #expect(try RecordedDrive(path: scratch.path).unsealedTail == 4..<5)
  }

  @Test func `when the disk is full at a seal, then the seals after it still confirm their events`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let disk = try #require(FullDisk(at: scratch.path))
    for second in 1...2 {
      #expect(throws: DriveLogError.self) { try writer.append(.at(Double(second), .path(.wifi))) }
      #expect(throws: DriveLogError.self) { try writer.seal(at: .start) }
    }
    disk.makeRoom()
    try writer.append(.at(3, .stop(.user)))
    try writer.seal(at: .start)
    let kept = try RecordedDrive(path: scratch.path)
    #expect(kept.events.count == 3 && kept.garbage.isEmpty && kept.unknownEvents == 0)
    #expect(kept.unsealed.isEmpty && kept.unsealedTail == nil)
  }

  @Test func `when all lines that wait have seals, then another seal still reports that they wait`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let disk = try #require(FullDisk(at: scratch.path))
    #expect(throws: DriveLogError.self) { try writer.append(event) }
    for _ in 0..<3 { #expect(throws: DriveLogError.self) { try writer.seal(at: .start) } }
    #expect(writer.linesWaiting == 2)
    disk.makeRoom()
    try writer.seal(at: .start)
    #expect(writer.linesWaiting == 0)
    #expect(try RecordedDrive(path: scratch.path).unsealedTail == nil)
  }

  @Test func `when the disk stays full, then memory is bounded and the lost lines are counted`() throws {
    let scratch = try Scratch()
    let writer = try DriveLogWriter(path: scratch.path, header: Log.plainHeader)
    let disk = try #require(FullDisk(at: scratch.path))
    let long = Event.at(1, .radio(Technology(String(repeating: "x", count: 100_000))))
    for _ in 0..<40 { try? writer.append(long) }
    #expect(writer.linesDropped > 0)
    disk.makeRoom()
    try? writer.append(event)
    let kept = try RecordedDrive(path: scratch.path)
    #expect(kept.garbage.isEmpty && !kept.isTorn)
    #expect(kept.events.filter { $0 == long }.count + writer.linesDropped >= 40)
  }
}

/// Puts /dev/full in the place of a file that this process has open.
private final class FullDisk {
  private let descriptor: CInt
  private let original: CInt

  init?(at path: String) {
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let open = (0..<1_024).first { descriptor in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == real
    }
    guard let open else { return nil }
    descriptor = CInt(open)
    original = dup(descriptor)
    let full = Foundation.open("/dev/full", O_WRONLY)
    guard full >= 0, dup2(full, descriptor) == descriptor else { return nil }
    close(full)
  }

  func makeRoom() { dup2(original, descriptor) }

  deinit { close(original) }
}

/// Names of logs, their permissions, and marks in logs of ended drives.
struct WriterFileTests {
  private func header() -> DriveLogHeader { Log.plainHeader }

  @Test("when drives begin at the same time, then each has a log of its own, readable only by its owner")
  func sameName() throws {
    let folder = try TemporaryFolder()
    let names = try (0..<3).map { _ in
      let writer = try DriveLogWriter(newIn: folder.path, name: "2026-11-20T10-00-00", header: header())
      return URL(fileURLWithPath: writer.path).lastPathComponent
    }
    #expect(names == ["2026-11-20T10-00-00.jsonl", "2026-11-20T10-00-00.2.jsonl", "2026-11-20T10-00-00.3.jsonl"])
    for name in names {
      let mode = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("when the name is a symbolic link, then the log is not written to its target")
  func symbolicLink() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("drive.jsonl"), withDestinationPath: folder.file("elsewhere"))
    #expect(throws: DriveLogError.self) { try DriveLogWriter(path: folder.file("drive.jsonl"), header: header()) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("elsewhere")))
  }

  @Test("when a log is paused, then its lines wait in memory, and are written in order afterwards")
  func paused() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("drive.jsonl")
    let writer = try DriveLogWriter(path: path, header: header())
    writer.isPaused = true
    for second in 0..<5 { try writer.append(.at(Double(second), .path(.wifi))) }
    try writer.sync()
    #expect(try RecordedDrive(path: path).events.isEmpty)
    writer.isPaused = false
    try writer.append(.at(5, .stop(.user)))
    #expect(try RecordedDrive(path: path).events.map(\.at) == (0...5).map { .seconds(Double($0)) })
    #expect(writer.linesDropped == 0)
  }

  @Test("when a session is forgotten, then the mark is read, even after a torn line, and the events stay")
  func forgotten() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("drive.jsonl")
    do {
      let writer = try DriveLogWriter(path: path, header: header())
      try writer.append(.at(1, .path(.wifi)))
    }
    let log = try #require(FileHandle(forWritingAtPath: path))
    try log.seekToEnd()
    try log.write(contentsOf: Data(#"{"at":2.0,"pa"#.utf8))
    try log.close()
    for session in [1, 0, 1] { try DriveLogWriter.noteForgotten(session: session, in: path) }
    let drive = try RecordedDrive(path: path)
    #expect(drive.forgotten == [0, 1])
    #expect(drive.events == [.at(1, .path(.wifi))])
    #expect(drive.garbage.map(\.number) == [3])
    #expect(drive.unknownEvents == 0)
  }

  @Test("when the log is gone or is a link, then a mark fails and creates no file")
  func forgottenNowhere() throws {
    let folder = try TemporaryFolder()
    #expect(throws: DriveLogError.self) { try DriveLogWriter.noteForgotten(session: 1, in: folder.file("gone")) }
    let precious = try folder.write("precious", to: "precious")
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: precious)
    #expect(throws: DriveLogError.self) { try DriveLogWriter.noteForgotten(session: 1, in: folder.file("link")) }
    #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }

  @Test("when no line follows the last seal, then no other seal is written")
  func emptySeal() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("drive.jsonl")
    let writer = try DriveLogWriter(path: path, header: header())
    for _ in 0..<3 { try writer.seal(at: .start) }
    #expect(try String(contentsOfFile: path, encoding: .utf8).ranges(of: "\"seal\"").count == 1)
  }
}
