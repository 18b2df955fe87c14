import Coverage
import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import coverage_probe

/// The state directory and the store in it.
struct StateExaminationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func measure(_ path: String) -> StateExamination.Measures {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = path
    return StateExamination.measure(configuration)
  }

  private func findings(_ change: (inout StateExamination.Measures) -> Void) -> [Finding] {
    var measures = StateExamination.Measures(path: "/state")
    (measures.room, measures.syncs) = (1 << 40, [.milliseconds(3)])
    change(&measures)
    return StateExamination.findings(measures).filter { $0.grade != .good }
  }

  @Test("when the directory is missing, then that is no fault, and the examination does not create it")
  func absent() {
    let measures = measure(folder.file("a/b/state"))
    #expect(measures.directory == .absent && measures.room != nil)
    #expect(!FileManager.default.fileExists(atPath: folder.file("a")))
    #expect(findings { $0.directory = .absent }.isEmpty)
  }

  @Test("when the directory exists, then writes are measured, and no file is left")
  func usable() throws {
    let state = folder.file("state")
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let measures = measure(state)
    #expect(measures.directory == .usable && measures.warning == nil && measures.storeTrouble == nil)
    #expect(measures.syncs.count == 5 && measures.syncs.allSatisfy { $0 > .zero })
    #expect(try FileManager.default.contentsOfDirectory(atPath: state) == [])
  }

  @Test("when a file has the directory's path, then the directory cannot be used")
  func file() throws {
    let path = try folder.write("x", to: "state")
    #expect(measure(path).directory == .unusable(reason: "Not a directory"))
    let found = findings { $0.directory = .unusable(reason: "Not a directory") }
    #expect(found.map(\.grade) == [.fault])
    #expect(found.first?.text == "/state cannot be written to: Not a directory")
  }

  @Test(
    "when the disk is full, then the advice is to free space",
    .enabled(if: Surroundings.mayMount, "needs CAP_SYS_ADMIN")
  )
  func full() throws {
    let state = folder.file("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try #require(mount("tmpfs", state, "tmpfs", 0, "size=64k,mode=700") == 0)
    defer { umount2(state, CInt(MNT_DETACH)) }
    try Data(count: 65_536).write(to: URL(fileURLWithPath: state + "/filling"))
    let measures = measure(state)
    #expect(measures.directory == .full(reason: "No space left on device"))
    let faults = StateExamination.findings(measures).filter { $0.grade == .fault }
    #expect(faults.map(\.text) == ["\(state) cannot be written to: No space left on device"])
    #expect(faults.first?.advice?.hasPrefix("free space on that disk") == true)
  }

  @Test("when a process has the store open with waiting fences, then both are noted")
  func heldStore() throws {
    let directory = StateDirectory(path: folder.file("state"))
    let store = try DriveStore(directory: directory, purpose: "a drive")
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
      fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(60))
    withExtendedLifetime(store) {
      let measures = measure(directory.path)
      #expect(measures.holder == "process \(getpid()) (a drive)")
      #expect(measures.waiting == 3 && measures.damaged == 0 && measures.quarantined == 0)
      #expect(StateExamination.findings(measures).last?.text == "3 fences to send")
    }
  }

  /// A store of one ended session with `fences` fences, damaged by `sql`.
  private func makeStore(fences: Int, _ sql: String) async throws -> StateDirectory {
    let directory = StateDirectory(path: folder.file("state"))
    do {
      let store = try DriveStore(directory: directory, purpose: "a test")
      var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: (0..<fences).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(60))
    }
    let change = try RunningProgram(
      URL(filePath: "/usr/bin/python3"),
      ["-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])", directory.database, sql])
    #expect(try await change.exitStatus() == 0, "\(change.standardError)")
    return directory
  }

  @Test("when a row of the store has changed, then its fence counts as damaged, and the others wait")
  func damagedRow() async throws {
    let directory = try await makeStore(
      fences: 4, "DROP TRIGGER fence_updated; UPDATE fence SET pings = 7 WHERE number = 1;")
    let measures = measure(directory.path)
    #expect(measures.damaged == 1 && measures.waiting == 3 && measures.storeTrouble == nil)
    #expect(measures.holder == nil, "the test's writer has ended")
    let found = StateExamination.findings(measures).filter { $0.grade != .good && $0.text.contains("damaged") }
    #expect(found.map(\.text) == ["1 stored fence damaged"])
  }

  @Test("when a table of the store is missing, then the finding has the reason, and the file is unchanged")
  func missingTable() async throws {
    let directory = try await makeStore(
      fences: 2, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'gone' WHERE name = 'session';")
    let before = try Data(contentsOf: URL(filePath: directory.database))
    let measures = measure(directory.path)
    #expect(measures.storeTrouble?.isEmpty == false && measures.storeTrouble?.contains("SELECT") == false)
    #expect(try Data(contentsOf: URL(filePath: directory.database)) == before)
    let found = StateExamination.findings(measures)
    #expect(found.last?.grade == .warning && found.last?.advice?.contains("docs/store.md") == true)
  }

  @Test("when the store is a symbolic link, then that is a fault with its remedy, because no drive begins with it")
  func link() async throws {
    let directory = try await makeStore(fences: 2, "")
    let moved = folder.file("moved.sqlite")
    try FileManager.default.moveItem(atPath: directory.database, toPath: moved)
    try FileManager.default.createSymbolicLink(atPath: directory.database, withDestinationPath: moved)
    let found = StateExamination.findings(measure(directory.path)).last
    #expect(found?.grade == .fault && found?.text.contains("is a symbolic link") == true && found?.advice == nil)
  }

  @Test("when a page is damaged that no listing reads, then the store counts as damaged")
  func damagedPage() async throws {
    let directory = try await makeStore(fences: 400, "PRAGMA wal_checkpoint(TRUNCATE);")
    let damage = try RunningProgram(
      URL(filePath: "/usr/bin/python3"),
      [
        "-c",
        """
        import sqlite3, sys
        page, = sqlite3.connect(sys.argv[1]).execute("SELECT rootpage FROM sqlite_schema WHERE name = 'speed_test'").fetchone()
        with open(sys.argv[1], "r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(b"\\xa5" * 4096)
        """, directory.database,
      ])
    #expect(try await damage.exitStatus() == 0, "\(damage.standardError)")
    #expect(try StoreReader(directory: directory).sessions().count == 1)
    let measures = measure(directory.path)
    #expect(measures.storeTrouble?.isEmpty == false)
    #expect(StateExamination.findings(measures).last?.grade == .warning)
  }

  @Test("when other users may enter the directory, then the finding is a warning")
  func openDirectory() throws {
    let state = folder.file("state")
    try FileManager.default.createDirectory(
      atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let measures = measure(state)
    #expect(measures.warning?.contains("every user of this host may enter") == true)
    #expect(StateExamination.findings(measures).map(\.grade).contains(.warning))
  }

  @Test("when the store is another program's file, then it cannot be read")
  func otherStore() throws {
    try FileManager.default.createDirectory(atPath: folder.file("state"), withIntermediateDirectories: true)
    _ = try folder.write(String(repeating: "x", count: 8192), to: "state/coverage.sqlite")
    #expect(measure(folder.file("state")).storeTrouble != nil)
  }

  @Test(
    "when the disk is nearly full, then the finding is a warning, or a fault if a drive would not fit",
    arguments: [(1 << 30, nil), ((256 << 20) - 1, .warning), ((16 << 20) - 1, .fault)] as [(Int64, Finding.Grade?)])
  func room(_ bytes: Int64, _ grade: Finding.Grade?) {
    #expect(findings { $0.room = bytes }.map(\.grade) == [grade].compactMap { $0 })
  }

  @Test("when some writes are slow, then their median counts, not the slowest")
  func slow() {
    let slow: Duration = .milliseconds(501)
    #expect(findings { $0.syncs = [slow, .zero, .zero, .zero, slow] }.isEmpty)
    #expect(findings { $0.syncs = [slow, .zero, slow, .zero, slow] }.map(\.grade) == [.warning])
  }

  @Test("when fences are damaged or refused, then each is a warning with its remedy")
  func fences() {
    let found = findings { ($0.damaged, $0.quarantined, $0.waiting) = (1, 2, 3) }
    #expect(found.map(\.grade) == [.warning, .warning])
    #expect(found[0].text.hasPrefix("1 stored fence ") && found[1].text.contains("2 fences"))
    #expect(found.allSatisfy { $0.advice != nil })
  }

  @Test("when one fence waits, or none, then the line has the right grammatical number")
  func counts() async throws {
    let directory = try await makeStore(fences: 1, "SELECT 1;")
    #expect(StateExamination.findings(measure(directory.path)).last?.text == "1 fence to send")
    let text = StateExamination.findings(StateExamination.Measures(path: "/state")).last?.text
    #expect(text == "no fence waits to be sent")
  }

  @Test("when the disk has any trouble, then the finding has a remedy")
  func advice() {
    let changes: [(inout StateExamination.Measures) -> Void] = [
      { $0.directory = .unusable(reason: "Read-only file system") }, { $0.room = 1 }, { $0.room = 17 << 20 },
      { $0.syncs = [.seconds(1)] }, { $0.storeTrouble = "database disk image is malformed" }, { $0.damaged = 3 },
      { $0.quarantined = 1 },
    ]
    for change in changes {
      let found = findings(change)
      #expect(found.count == 1 && found.allSatisfy { $0.advice?.isEmpty == false && $0.subject == .state }, "\(found)")
    }
  }
}
