import Foundation
import TestSupport
import Testing

@testable import Settings

/// Files that an operator names: regular files, pipes, and unreadable paths.
struct InputFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A pipe that holds this many bytes and whose writing end is closed.
  private func pipe(_ bytes: Int) throws -> (pipe: Pipe, path: String) {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(repeating: 0x78, count: bytes))
    try pipe.fileHandleForWriting.close()
    return (pipe, "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
  }

  @Test("when a file is as long as the limit, then it is read; a byte more is refused", arguments: [0, 1, 5000])
  func fileLimit(limit: Int) throws {
    let file = try folder.write(String(repeating: "x", count: limit), to: "file")
    #expect(try InputFile.contents(file, limit: limit).count == limit)
    let longer = try folder.write(String(repeating: "x", count: limit + 1), to: "longer")
    #expect(throws: InputFileError(path: longer, reason: "it is longer than \(limit) bytes")) {
      try InputFile.contents(longer, limit: limit)
    }
  }

  @Test(
    "when a pipe has as many bytes as the limit, then they are read; a byte more is refused", arguments: [0, 1, 5000])
  func pipeLimit(limit: Int) throws {
    let (whole, path) = try pipe(limit)
    #expect(try InputFile.contents(path, limit: limit).count == limit)
    try whole.fileHandleForReading.close()
    let (longer, other) = try pipe(limit + 1)
    #expect(throws: InputFileError(path: other, reason: "it is longer than \(limit) bytes")) {
      try InputFile.contents(other, limit: limit)
    }
    try longer.fileHandleForReading.close()
  }

  @Test("when bytes have any value, then each is read unchanged")
  func bytes() throws {
    let all = Data((0...255).map { UInt8($0) })
    try all.write(to: URL(fileURLWithPath: folder.file("bytes")))
    #expect(try InputFile.contents(folder.file("bytes"), limit: 256) == all)
  }

  @Test("when a path leads to no readable file, then the error has the path and the kernel's reason")
  func unreadable() throws {
    try FileManager.default.createSymbolicLink(atPath: folder.file("loop"), withDestinationPath: folder.file("loop"))
    for (path, reason) in [
      (folder.file("gone"), "No such file or directory"), (folder.path, "Is a directory"),
      (folder.file("loop"), "Too many levels of symbolic links"), ("", "No such file or directory"),
    ] {
      let error = #expect(throws: InputFileError.self) { try InputFile.contents(path, limit: 100) }
      #expect(error == InputFileError(path: path, reason: reason))
      #expect(error.map { "\($0)" } == "cannot read \(path): \(reason)")
    }
  }

  @Test("when a path is a file or is missing, then it can be read again; a pipe, a folder and standard input cannot")
  func again() throws {
    let (pipe, path) = try pipe(1)
    #expect(InputFile.canBeReadAgain(try folder.write("", to: "file")))
    #expect(InputFile.canBeReadAgain(folder.file("gone")))
    for other in [path, "-", "/dev/null", folder.path] { #expect(!InputFile.canBeReadAgain(other), "\(other)") }
    try pipe.fileHandleForReading.close()
  }

  @Test(
    "when the configuration cannot be read and its path begins with a tilde, then the line explains the tilde",
    arguments: [("~/config.yaml", true), ("/nowhere/~/config.yaml", false)])
  func tilde(path: String, isExplained: Bool) throws {
    let error = #expect(throws: ConfigurationError.self) { try ProbeConfiguration.load(file: path, environment: [:]) }
    let advice = isExplained ? "; the shell leaves ~ alone there, write the whole path" : ""
    #expect("\(try #require(error))" == "cannot read configuration \(path): No such file or directory\(advice)")
  }
}
