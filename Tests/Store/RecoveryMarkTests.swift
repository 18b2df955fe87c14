import Foundation
import TestSupport
import Testing

@testable import Store

/// The mark of a recovery that is still to come.
struct RecoveryMarkTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private var mark: RecoveryMark { RecoveryMark(directory) }

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.path)
  }

  @Test("when there is no mark, then no recovery is due")
  func none() throws {
    #expect(mark.need == .none)
    try mark.set(.none)
    #expect(!FileManager.default.fileExists(atPath: directory.recoveryMark), "no need makes no mark")
  }

  @Test(
    "when a mark is read, then unknown content asks for the most thorough recovery",
    arguments: [
      ("1", RecoveryNeed.damaged), ("2", .rolledBack), ("", .rolledBack), ("0", .rolledBack), ("7", .rolledBack),
      ("\0", .rolledBack),
    ])
  func content(_ text: String, _ need: RecoveryNeed) throws {
    _ = try folder.write(text, to: "recovery-due")
    #expect(mark.need == need)
  }

  @Test("when a folder has the name of the mark, then it asks for the most thorough recovery")
  func folderInItsPlace() throws {
    try FileManager.default.createDirectory(atPath: directory.recoveryMark, withIntermediateDirectories: false)
    #expect(mark.need == .rolledBack)
  }

  @Test(
    "when a mark is set twice, then the greater need stays",
    arguments: [
      ([RecoveryNeed.damaged], RecoveryNeed.damaged), ([.rolledBack], .rolledBack),
      ([.damaged, .rolledBack], .rolledBack), ([.rolledBack, .damaged], .rolledBack), ([.damaged, .none], .damaged),
    ])
  func raising(_ needs: [RecoveryNeed], _ need: RecoveryNeed) throws {
    for need in needs { try mark.set(need) }
    #expect(mark.need == need)
    #expect(RecoveryMark(directory).need == need)
  }

  @Test("when a mark is set, then its folder is synced before the repair continues")
  func durableName() throws {
    let trace = try DiskTrace(folder: folder.path)
    func syncs() -> Int { trace.events.count { if case .syncFolder = $0 { true } else { false } } }
    try mark.set(.damaged)
    #expect(syncs() == 1)
    try mark.set(.damaged)
    #expect(syncs() == 1, "an existing mark is not written again")
    try mark.set(.rolledBack)
    #expect(syncs() == 2)
  }

  @Test("when the mark cannot be set, then an error stops the repair: the damage would be forgotten")
  func missingFolder() throws {
    let missing = RecoveryMark(StateDirectory(path: folder.file("missing")))
    #expect(throws: StoreError.unusableDirectory(path: folder.file("missing"), reason: "No such file or directory")) {
      try missing.set(.damaged)
    }
  }

  @Test("when a process ends before its recovery, then the next one finds the need, until a recovery has ended")
  func acrossProcesses() throws {
    do { try DriveStore(directory: directory, purpose: "a test").noteRollback() }
    let next = try DriveStore(directory: directory, purpose: "a test")
    #expect(next.recoveryNeed == .rolledBack)
    next.endRecovery()
    #expect(next.recoveryNeed == .none)
    next.endRecovery()
    #expect(next.recoveryNeed == .none, "a second end changes nothing")
  }
}
