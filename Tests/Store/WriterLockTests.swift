import Foundation
import TestSupport
import Testing

@testable import Store

/// The writer's lock, and the note in its file about the last holder.
struct WriterLockTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private var note: String { "process \(getpid()) (a test)" }

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.path)
  }

  private func lock() throws -> WriterLock { try WriterLock(directory, purpose: "a test") }

  private func text() throws -> String { try String(contentsOfFile: directory.lock, encoding: .utf8) }

  /// A sequence of processes: how far each one gets, and whether the next one finds an unclean end.
  struct History: CustomTestStringConvertible, Sendable {
    enum Process: Sendable {
      /// Opens the store and closes it.
      case orderly
      /// Ends before it opens the store.
      case killedBeforeOpening
      /// Ends after it has noted the losses of the previous process, and before the store is open.
      case killedWhileOpening
      case killedWithOpenStore
    }

    let testDescription: String
    let processes: [Process]
    let isUnclean: Bool
  }

  private static let histories = [
    History(testDescription: "the first process", processes: [], isUnclean: false),
    History(testDescription: "an orderly end", processes: [.orderly], isUnclean: false),
    History(testDescription: "killed before it opened", processes: [.killedBeforeOpening], isUnclean: false),
    History(testDescription: "killed while it opened", processes: [.killedWhileOpening], isUnclean: false),
    History(testDescription: "killed with an open store", processes: [.killedWithOpenStore], isUnclean: true),
    History(
      testDescription: "killed with an open store, the next one when it had noted the losses",
      processes: [.killedWithOpenStore, .killedWhileOpening], isUnclean: false),
    History(
      testDescription: "killed with an open store, the next one before it opened",
      processes: [.killedWithOpenStore, .killedBeforeOpening, .killedBeforeOpening], isUnclean: true),
    History(
      testDescription: "killed, then an orderly end", processes: [.killedWithOpenStore, .orderly], isUnclean: false),
    History(
      testDescription: "an orderly end, then killed", processes: [.orderly, .killedWithOpenStore], isUnclean: true),
  ]

  @Test(
    "when a process had the store open at its end, then the next one that opens it finds an unclean end",
    arguments: histories)
  func uncleanEnds(_ history: History) throws {
    for process in history.processes {
      // The lock ends with the value, as with a killed process.
      let lock = try lock()
      if process != .killedBeforeOpening { lock.noteOpeningStore() }
      if process == .orderly || process == .killedWithOpenStore { lock.noteOpenStore() }
      if process == .orderly { lock.noteClosedStore() }
    }
    #expect(try lock().isAfterUncleanEnd == history.isUnclean)
  }

  @Test(
    "when a store is closed in order, then the next process finds a clean end; an older copy of the lock shows the opposite"
  )
  func throughStore() throws {
    let open = folder.file("open-lock")
    do {
      let store = try DriveStore(directory: directory, purpose: "a test")
      #expect(try text() == "\(note), the store is open")
      try FileManager.default.copyItem(atPath: directory.lock, toPath: open)
      try store.database.close()
    }
    #expect(try text().isEmpty)
    #expect(try !lock().isAfterUncleanEnd)
    try FileManager.default.removeItem(atPath: directory.lock)
    try FileManager.default.moveItem(atPath: open, toPath: directory.lock)
    #expect(try lock().isAfterUncleanEnd)
  }

  @Test("when a process has the lock, then others read its name, without the mark of its store")
  func holder() throws {
    #expect(directory.holder == nil)
    do {
      let lock = try lock()
      #expect(directory.holder == note)
      lock.noteOpeningStore()
      #expect(directory.holder == note)
      lock.noteOpenStore()
      #expect(directory.holder == note)
      lock.noteClosedStore()
      #expect(directory.holder == "another process", "between the store's end and the lock's")
    }
    #expect(directory.holder == nil)
  }

  @Test("when the last holder had a longer note, then a shorter one replaces all of it")
  func longerNote() throws {
    do { _ = try WriterLock(directory, purpose: String(repeating: "long ", count: 20)) }
    _ = try lock()
    #expect(try text() == note)
  }

  @Test("when there is no lock, or a link in its place, then it is not held, and a link cannot be locked")
  func noLock() throws {
    #expect(!WriterLock.isHeld(StateDirectory(path: folder.file("missing"))))
    #expect(WriterLock.holder(StateDirectory(path: folder.file("missing"))) == "another process")
    try FileManager.default.createSymbolicLink(atPath: directory.lock, withDestinationPath: "/dev/null")
    #expect(!WriterLock.isHeld(directory))
    #expect(throws: StoreError.symbolicLink(path: directory.lock)) { _ = try lock() }
  }
}
