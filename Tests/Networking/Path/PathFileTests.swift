import Coverage
import Foundation
import TestSupport
import Testing

@testable import Networking

/// The file of `network.source: file:PATH`, which other programs write.
struct PathFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ bytes: [UInt8]) throws -> Result<Coverage.Path, PathFile.ReadError> {
    let file = folder.file("path")
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return PathFile.lastWord(of: file)
  }

  @Test(
    "when the last line is a path in any form that editors and shells write, then it counts",
    arguments: [
      ("wifi", Coverage.Path.wifi), ("wifi\n", .wifi), ("wifi\r\n", .wifi), ("cellular\n\n\n", .cellular),
      ("wifi\ncellular", .cellular), ("  none \n", .offline), ("\tcellular\t\r\n", .cellular),
      ("lte\nwifi\n", .wifi), (String(repeating: "wifi\n", count: 100_000) + "cellular\n", .cellular),
    ])
  func forms(text: String, expected: Coverage.Path) throws {
    #expect(try path(Array(text.utf8)) == .success(expected))
  }

  @Test(
    "when the last line is not a path, then the error shows at most 20 characters of it, in one line",
    arguments: [
      ("", ""), ("\n\n", ""), ("CELLULAR\n", "CELLULAR"), ("cellular wifi", "cellular wifi"), ("wifi\nlte\n", "lte"),
      ("cellularcellularcellularcellular", "cellularcellularcell"), ("wifi\0", "wifi\0"),
      ("\u{FEFF}wifi", "\u{FEFF}wifi"),
    ])
  func noPath(text: String, shown: String) throws {
    let file = folder.file("path")
    #expect(
      try path(Array(text.utf8))
        == .failure(
          .init(file: file, reason: "its last line is \"\(shown)\", expected cellular, wifi or none")))
  }

  @Test(
    "when the file is not UTF-8, then it has no path, and there is no crash",
    arguments: [[0xFF], [0x77, 0xC3], [0x80, 0x0A]] as [[UInt8]])
  func notUTF8(bytes: [UInt8]) throws {
    guard case .failure(let error) = try path(bytes) else {
      Issue.record("a path")
      return
    }
    #expect(error.description.hasPrefix("network.source: \(folder.file("path")): its last line is \""))
    #expect(error.description.hasSuffix("; no network is assumed"))
  }

  @Test("when a folder is in the place of the file, then it cannot be read")
  func folderInstead() {
    #expect(
      PathFile.lastWord(of: folder.path) == .failure(.init(file: folder.path, reason: "it cannot be read")))
  }

  @Test("when the file stays invalid, then one line says so, and another one after a valid reading")
  func oneLineForEachFailure() throws {
    var file = PathFile(name: try folder.write("lte\n", to: "path"))
    func errors(_ readings: Int) -> Int { (0..<readings).filter { _ in file.read().newError != nil }.count }
    #expect(errors(10) == 1)
    _ = try folder.write("wifi\n", to: "path")
    #expect(errors(10) == 0)
    _ = try folder.write("lte\n", to: "path")
    #expect(errors(10) == 1)
  }
}
