import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// A process is killed, and then the next one during its start. The third must not take the files for a store that lost commits.
struct KilledStartTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func copy(_ directory: StateDirectory, as name: String) throws -> StateDirectory {
    let path = folder.file(name)
    try FileManager.default.copyItem(atPath: directory.path, toPath: path)
    return StateDirectory(path: path)
  }

  /// The state left by a process that was killed while its store was open, with fences in the write-ahead log.
  private func killed() throws -> StateDirectory {
    let directory = StateDirectory(path: folder.file("state"))
    let store = try DriveStore(directory: directory, purpose: "test")
    var recorder = try DriveRecorder(store, started: WallTime(microseconds: 1_800_000_000_000_000), log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [.sample(number: 0)], seen: .start)
    return try withExtendedLifetime(store) { try copy(directory, as: "killed") }
  }

  /// SQLite empties the log's index at a start, before it writes a new one.
  private func beginIndex(_ directory: StateDirectory) {
    #expect(truncate(directory.database + "-shm", 3) == 0)
  }

  /// The state left by a start that was killed after it had looked for losses.
  private func killedAgain(_ directory: StateDirectory) throws -> StateDirectory {
    let (file, left) = (StoreFile(directory: directory) { _ in }, folder.file("again"))
    _ = try StoreDatabase(directory, purpose: "second", connect: { nil }) { occasion, onChecked in
      #expect(occasion == .startAfterUncleanEnd)
      let store = try file.open(occasion) {
        onChecked()
        #expect(throws: Never.self) { try FileManager.default.copyItem(atPath: directory.path, toPath: left) }
      }
      return store
    }
    return StateDirectory(path: left)
  }

  @Test("when a start is killed while it opens the store, then the next start suspects no loss")
  func whileOpening() throws {
    let store = try DriveStore(directory: try killedAgain(try killed()), purpose: "third")
    #expect(store.recoveryNeed == .none)
    #expect(WriterLock.holder(store.directory).hasSuffix("(third)"))
  }

  @Test("when a process with an open store is killed and the log's index is gone, then the next start suspects a loss")
  func withoutIndex() throws {
    let left = try killed()
    beginIndex(left)
    #expect(try DriveStore(directory: left, purpose: "second").recoveryNeed == .rolledBack)
  }

  @Test("when a start notes a suspicion and is killed, then the next start still has it")
  func suspicionStays() throws {
    let left = try killed()
    beginIndex(left)
    let again = try killedAgain(left)
    #expect(try DriveStore(directory: again, purpose: "third").recoveryNeed == .rolledBack)
  }

  /// The state left by a start that was killed in its look at the log.
  private func killedInItsLook() throws -> StateDirectory {
    let left = try killed()
    try RecoveryMark(left).begin(try #require(LogIndex(left.database + "-shm")))
    beginIndex(left)
    return left
  }

  @Test("when a start is killed in its look at the log, then the next start looks for the same frames")
  func inItsLook() throws {
    let left = try killedInItsLook()
    #expect(RecoveryMark(left).need == .rolledBack, "a look without an end counts as a loss")
    #expect(try DriveStore(directory: left, purpose: "third").recoveryNeed == .none)
  }

  @Test("when a start is killed in its look at a log that lacks a frame, then the next start finds the loss, for good")
  func lossInItsLook() throws {
    let left = try killedInItsLook()
    let log = left.database + "-wal"
    #expect(truncate(log, off_t(RawFile(log).bytes - 4120)) == 0)
    #expect(try DriveStore(directory: left, purpose: "third").recoveryNeed == .rolledBack)
    #expect(RecoveryMark(left).look == nil)
    #expect(try DriveStore(directory: left, purpose: "fourth").recoveryNeed == .rolledBack)
  }

  @Test(
    "when a mark is cut or changed, then it is no look", arguments: ["look", "look 3", "look -1 5", "look x 5", "2"])
  func damagedLook(_ text: String) throws {
    let directory = StateDirectory(path: folder.path)
    _ = try folder.write(text, to: "recovery-due")
    #expect(RecoveryMark(directory).look == nil && RecoveryMark(directory).need == .rolledBack)
  }
}
