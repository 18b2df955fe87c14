import Coverage
import TestSupport
import Testing

@testable import Networking

/// Failures in a row to read the file of `network.source: file:PATH`.
struct PathFileFailureTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("when one reading fails, then the last path still counts; after two in a row there is no network")
  func secondFailure() throws {
    var file = PathFile(name: try folder.write("cellular\n", to: "path"))
    #expect(file.read().path == .cellular)
    _ = try folder.write("", to: "path")
    let first = file.read()
    #expect(first.path == .cellular && first.newError == nil)
    let second = file.read()
    #expect(second.path == .offline && second.newError != nil)
    let third = file.read()
    #expect(third.path == .offline && third.newError == nil)
  }

  @Test("when the file is valid in between, then two failures are not in a row")
  func betweenFailures() throws {
    var file = PathFile(name: folder.file("path"))
    for (text, expected) in [("wifi", .wifi), ("lte", .wifi), ("cellular", .cellular), ("lte", .cellular)]
      as [(String, Coverage.Path)]
    {
      _ = try folder.write(text, to: "path")
      let (path, newError) = file.read()
      #expect(path == expected && newError == nil, "\(text)")
    }
  }

  @Test("when the file was never valid, then no path is delivered before the second failure")
  func neverRight() {
    var file = PathFile(name: folder.file("gone"))
    #expect(file.read().path == nil)
    let second = file.read()
    #expect(second.path == .offline)
    #expect(second.newError?.reason == "it cannot be read")
  }
}
