import Foundation
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// Output to descriptors that are not ready, are inherited, or are gone.
struct DescriptorOutputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func finish(_ text: String, to path: String?) throws {
    let output = try OutputFile(path: path)
    try output.write(Array(text.utf8))
    try output.finish()
  }

  @Test("when a pipe is non-blocking and full, then all bytes arrive in order as its reader makes room")
  func nonBlocking() async throws {
    let pipe = Pipe()
    let (reader, writer) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    try #require(fcntl(writer.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let written = Task.detached {
      defer { try? writer.close() }
      return DescriptorOutput.write(bytes, to: writer.fileDescriptor)
    }
    let read = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: reader.readDataToEndOfFile()) }
    }
    #expect(await written.value)
    // Compare outside #expect, which would take minutes to describe a difference.
    let isWhole = read == Data(bytes)
    #expect(isWhole)
  }

  @Test("when a descriptor cannot be written, then the result is false, and errno has the reason")
  func noDescriptor() {
    #expect(!DescriptorOutput.write([1], to: -1))
    #expect(errno == EBADF)
    #expect(DescriptorOutput.write([], to: -1), "there is nothing to write")
  }

  @Test(
    "when the path is an inherited descriptor, then the text is appended to the existing text",
    arguments: ["/dev/fd/", "/proc/self/fd/"])
  func inherited(prefix: String) throws {
    let file = try folder.write("before ", to: "log")
    let descriptor = open(file, O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(descriptor) }
    try #require(descriptor >= 0)
    try finish("after", to: "\(prefix)\(descriptor)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "before after")
    #expect(fcntl(descriptor, F_GETFD) >= 0, "the descriptor is the caller's and stays open")
  }

  @Test(
    "when a path leads nowhere, then the line names it and says why, and nothing is created",
    arguments: [
      ("", "cannot write \"\": No such file or directory"), ("new/", "cannot write /new/: Is a directory"),
      ("gone/new", "cannot write /gone/new: No such file or directory"),
      ("file/new", "cannot write /file/new: Not a directory"),
    ])
  func nowhere(path: String, line: String) throws {
    _ = try folder.write("x", to: "file")
    let whole = path.isEmpty ? "" : folder.file(path)
    let error = #expect(throws: OutputError.self) { try OutputFile(path: whole) }
    #expect(error?.description.replacing(folder.path, with: "") == line)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
  }

  @Test("when a result is larger than the buffer, then the file is complete, and appears only at the end")
  func large() throws {
    let path = folder.file("large")
    let output = try OutputFile(path: path)
    let piece = Array(String(repeating: "0123456789", count: 1000).utf8)
    for _ in 0..<50 { try output.write(piece) }
    #expect(!FileManager.default.fileExists(atPath: path))
    try output.finish()
    #expect(FileManager.default.contents(atPath: path)?.count == 500_000)
  }

  @Test("when a result is empty, then the file is empty, and an old one is replaced")
  func empty() throws {
    let old = try folder.write("old", to: "old")
    for path in [old, folder.file("new")] {
      try OutputFile(path: path).finish()
      #expect(FileManager.default.contents(atPath: path) == Data())
    }
  }

  @Test("when the reader of the output has ended, then the error says so, and other errors do not")
  func readerGone() {
    #expect(OutputError(path: "standard output", code: EPIPE).isReaderGone)
    #expect(!OutputError(path: "x", code: ENOSPC).isReaderGone)
    #expect(OutputError(path: "x", code: EPIPE).description == "cannot write x: Broken pipe")
  }
}
