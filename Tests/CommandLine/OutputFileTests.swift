import Foundation
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

struct OutputFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, to path: String) throws {
    let output = try OutputFile(path: path)
    try output.write(Array(text.utf8))
    try output.finish()
  }

  private func text(_ name: String) throws -> String { try String(contentsOfFile: folder.file(name), encoding: .utf8) }

  private func status(_ path: String) -> stat {
    var status = stat()
    lstat(path, &status)
    return status
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

  @Test(
    "when an output has a name, then its ending says what it is; devices and names without one say nothing",
    arguments: [
      ("drives.gpkg", "gpkg"), ("a/b.c/drives.GeoJSON", "geojson"), ("a.b/drives", nil), (".gpkg", nil),
      ("drives.", nil),
      ("-", nil), ("/dev/null", nil), (nil, nil), ("/dev/stdout", nil), ("a.tar.gz", "gz"),
    ] as [(String?, String?)])
  func endings(path: String?, ending: String?) {
    #expect(OutputFile.ending(of: path) == ending)
  }

  @Test("when the file is new, then it appears complete, and no other file is left")
  func newFile() throws {
    let output = try OutputFile(path: folder.file("new"))
    try output.write(Array("half".utf8))
    #expect(names.isEmpty, "until it is complete it has no name")
    try output.finish()
    #expect(names == ["new"])
    #expect(try text("new") == "half")
  }

  @Test("when the file exists, then the new one has its mode and owner")
  func keepsMode() throws {
    let file = try folder.write("old", to: "old")
    chmod(file, 0o604)
    if getuid() == 0 { chown(file, 12, 34) }
    let before = status(file)
    try write("new", to: file)
    let after = status(file)
    #expect(try text("old") == "new")
    #expect(after.st_mode & 0o7777 == 0o604)
    #expect(after.st_uid == before.st_uid && after.st_gid == before.st_gid)
    #expect(after.st_ino != before.st_ino, "it was replaced whole")
  }

  @Test(
    "when the path is a link, then its target is written, and the link stays", arguments: [true, false])
  func followsLinks(isThere: Bool) throws {
    if isThere { _ = try folder.write("old", to: "target") }
    symlink("target", folder.file("link"))
    symlink(folder.file("link"), folder.file("second"))
    try write("new", to: folder.file("second"))
    #expect(try text("target") == "new")
    #expect(status(folder.file("link")).st_mode & S_IFMT == S_IFLNK)
    #expect(status(folder.file("second")).st_mode & S_IFMT == S_IFLNK)
    #expect(names == ["link", "second", "target"])
  }

  @Test("when links lead in a circle, then the line says so")
  func circle() {
    symlink("b", folder.file("a"))
    symlink("a", folder.file("b"))
    let error = #expect(throws: OutputError.self) { try OutputFile(path: folder.file("a")) }
    #expect(error?.description == "cannot write \(folder.file("a")): Too many levels of symbolic links")
  }

  @Test("when a file has a second name, then both show the new content")
  func hardLink() throws {
    let file = try folder.write("a longer old text", to: "one")
    link(file, folder.file("two"))
    try write("new", to: file)
    #expect(try text("two") == "new")
  }

  @Test("when a file is replaced whole, or is a device, then there is no warning")
  func noWarning() throws {
    let old = try folder.write("old", to: "old")
    for path in [old, folder.file("new"), "/dev/null", "-"] {
      let output = try OutputFile(path: path)
      #expect(output.warning == nil)
    }
  }

  @Test("when a file with a second name is written, then one line says that a failure leaves it incomplete")
  func warnsOfSecondName() throws {
    let file = try folder.write("old", to: "one")
    link(file, folder.file("two"))
    let output = try OutputFile(path: file)
    #expect(
      output.warning
        == "\(file) is written in place, as it has several names: a failure before the end leaves it incomplete")
  }

  @Test("when the path is a device without room, then it stays a device, and the line says why")
  func device() throws {
    let output = try OutputFile(path: "/dev/full")
    try output.write(Array("text".utf8))
    let error = #expect(throws: OutputError.self) { try output.finish() }
    #expect(error?.description == "cannot write /dev/full: No space left on device")
    #expect(status("/dev/full").st_mode & S_IFMT == S_IFCHR)
    #expect(!FileManager.default.fileExists(atPath: "/dev/full.partial"))
  }

  @Test("when the path is a pipe, then its reader gets the text, and it stays a pipe")
  func pipe() throws {
    let path = folder.file("fifo")
    #expect(mkfifo(path, 0o600) == 0)
    // Open the reader before the writer, so that neither waits for the other.
    let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    #expect(reader >= 0)
    try write("text", to: path)
    #expect(FileHandle(fileDescriptor: reader, closeOnDealloc: true).readDataToEndOfFile() == Data("text".utf8))
    #expect(status(path).st_mode & S_IFMT == S_IFIFO)
    #expect(names == ["fifo"])
  }

  @Test("when the path is a folder, then the line says so")
  func directory() {
    let error = #expect(throws: OutputError.self) { try OutputFile(path: folder.path) }
    #expect(error?.description == "cannot write \(folder.path): Is a directory")
  }

  @Test("when the output is dropped before its end, then the old file is unchanged, and no other file is left")
  func givenUp() throws {
    let file = try folder.write("old", to: "file")
    do {
      let output = try OutputFile(path: file)
      try output.write(Array(String(repeating: "new", count: 100_000).utf8))
    }
    #expect(try text("file") == "old")
    #expect(names == ["file"])
  }

  @Test(
    "when the disk is full, then the old file is unchanged, and no other file is left",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func fullDisk() throws {
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=64k") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    try "old".write(toFile: disk + "/file", atomically: false, encoding: .utf8)
    let error = #expect(throws: OutputError.self) {
      try write(String(repeating: "new", count: 1_000_000), to: disk + "/file")
    }
    #expect(error?.description == "cannot write \(disk)/file: No space left on device")
    #expect(try String(contentsOfFile: disk + "/file", encoding: .utf8) == "old")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["file"])
  }

  @Test(
    "when the disk has no inode for the new file, then the old one is unchanged",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func noInodes() throws {
    let disk = folder.file("small")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(mount("tmpfs", disk, "tmpfs", 0, "size=64k,nr_inodes=2") == 0)
    defer { umount2(disk, CInt(MNT_DETACH)) }
    let old = String(repeating: "o", count: 40_000)
    try old.write(toFile: disk + "/out", atomically: false, encoding: .utf8)
    #expect(throws: OutputError(path: disk + "/out", code: ENOSPC)) {
      try write(String(repeating: "n", count: 100_000), to: disk + "/out")
    }
    #expect(try String(contentsOfFile: disk + "/out", encoding: .utf8) == old)
  }
}
