import Foundation
import TestSupport
import Testing

@testable import DriveStore

/// The room that is kept for fences.
struct BallastTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func size(in folder: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder + "/ballast")[.size] as? Int
  }

  @Test("when the ballast is kept, then it is there once, until it is released")
  func keeping() throws {
    let ballast = Ballast(StateDirectory(path: folder.path))
    #expect(ballast.keep())
    #expect(ballast.keep())
    #expect(try size(in: folder.path) == Ballast.size)
    #expect(ballast.release())
    #expect(!ballast.release())
  }

  @Test("when a power cut has left a part of it, or none, then it is set aside anew")
  func cut() throws {
    let ballast = Ballast(StateDirectory(path: folder.path))
    for left in [0, 4096, Ballast.size - 1] {
      try Data(count: left).write(to: URL(fileURLWithPath: folder.file("ballast")))
      #expect(ballast.keep())
      #expect(try size(in: folder.path) == Ballast.size)
    }
  }

  @Test("when the folder is missing, then nothing is set aside")
  func missing() {
    #expect(!Ballast(StateDirectory(path: folder.file("nowhere"))).keep())
  }

  @Test(
    "when the disk has little more room than that, then it is left to others",
    .enabled(if: Surroundings.mayMount, "mounting a small disk needs CAP_SYS_ADMIN"))
  func noRoom() throws {
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=12m") == 0 else {
      Issue.record("cannot mount: \(String(cString: strerror(errno)))")
      return
    }
    defer { umount2(folder.path, CInt(MNT_DETACH)) }
    #expect(!Ballast(StateDirectory(path: folder.path)).keep())
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
