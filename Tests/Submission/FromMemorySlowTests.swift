import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Fences that the disk refuses, and passes that send them from memory.
@Suite(.serialized)
struct FromMemorySlowTests {
  /// A drive of five fences whose first two are in the store, with the same test.
  private func part(of drive: Int64, test: String, log: String? = nil) -> DriveInMemory {
    DriveInMemory(
      drive: drive, started: .rigStart, ended: .seconds(4000), stopReason: .duration, log: log,
      sessions: [
        Session(number: 0, testUUID: test, started: .start, anchor: .seconds(1), finalized: .seconds(4000))
      ], fences: (0..<5).map { .sample(number: $0, entered: Double($0) * 4) }, unstored: [2, 3, 4])
  }

  /// A rig with such a drive.
  private func rig() async throws -> (SendingRig, part: DriveInMemory, Sender) {
    let rig = try await SendingRig()
    let test = try await rig.test()
    let drive = try rig.record(tests: [test])
    return (rig, part(of: drive, test: test), try rig.sender())
  }

  /// Writes the part, as a drive does when the disk accepts it again.
  private func write(_ part: DriveInMemory, sent: [BatchInMemory], to store: DriveStore) throws {
    var recorder = DriveRecorder(store.store, drive: part.drive, started: part.started)
    try recorder.save(sessions: [], fences: part.fences, seen: .seconds(100), batches: sent)
  }

  @Test("when the disk refuses fences, then a pass sends them from memory, and after the disk's return none goes again")
  func once() async throws {
    let (rig, part, sender) = try await rig()
    try await sender.hold([part], sent: [])
    let report = try await sender.pass(.memory)
    #expect(report.fencesSent == 5 && report.sessionsSent == 1)
    #expect(await sender.submittedFromMemory == [part.drive: [0, 1, 2, 3, 4]])
    #expect(rig.lines.all.contains { $0.contains("3 fences that the disk refuses will be submitted from memory") })
    #expect(rig.lines.all.contains { $0.contains("memory pass: sent 5 fences of 1 session") })
    #expect(try await sender.pass(.memory).fencesSent == 0)
    let sent = try #require(await sender.takeBack())
    #expect(sent.map(\.fences) == [[0, 1, 2, 3, 4]] && sent.allSatisfy(\.isSubmitted))
    try write(part, sent: sent, to: rig.store)
    #expect(try rig.states() == [.submitted])
    #expect(try await sender.pass(.cold) == PassReport())
    #expect(try await rig.holdsAllOnce(5))
    try await rig.finish()
  }

  @Test("when the answer is lost, then the store knows that the fences may be there, and the history settles it")
  func inDoubt() async throws {
    let (rig, part, sender) = try await rig()
    try await sender.hold([part], sent: [])
    try await rig.tool.setFault("drop-answer", on: "coverageResult", count: 1)
    #expect(try await sender.pass(.memory).fencesSent == 0)
    let sent = try #require(await sender.takeBack())
    #expect(sent.map(\.batch.state) == [.sending])
    try write(part, sent: sent, to: rig.store)
    _ = try await sender.pass(.cold, urgency: .forced)
    #expect(try await rig.holdsAllOnce(5))
    #expect(try rig.states() == [.submitted])
    try await rig.finish()
  }

  @Test("when the disk refuses them again, then what was sent from memory is not sent again")
  func heldAgain() async throws {
    let (rig, part, sender) = try await rig()
    try await sender.hold([part], sent: [])
    #expect(try await sender.pass(.memory).fencesSent == 5)
    let sent = try #require(await sender.takeBack())
    #expect(try await sender.pass(.memory) == PassReport(), "they are not the sender's any more")
    try await sender.hold([part], sent: sent)
    #expect(await sender.submittedFromMemory[part.drive]?.count == 5)
    #expect(try await sender.pass(.memory).fencesSent == 0)
    #expect(try await rig.requests("coverageResult") == 1)
    try await rig.finish()
  }

  @Test("when the process ends before the disk returns, then a later one does not send the stored fences again")
  func processEnds() async throws {
    let (rig, part, sender) = try await rig()
    try await sender.hold([part], sent: [])
    #expect(try await sender.pass(.memory).fencesSent == 5)
    _ = try await rig.sender().pass(.cold)
    #expect(try await rig.holdsAllOnce(5))
    try await rig.finish()
  }

  @Test("when a pass sends from memory and from the store, then its report has both")
  func bothReports() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: try await rig.tests(1))
    let test = try await rig.test()
    let drive = try rig.record(tests: [test])
    let sender = try rig.sender()
    await sender.setRunningDrives(from: drive)
    try await sender.hold([part(of: drive, test: test)], sent: [])
    let report = try await sender.pass(.warm)
    #expect(report.fencesSent == 7 && report.sessionsSent == 2)
    #expect(await sender.lastPass?.report == report)
    try await rig.finish()
  }

  @Test("when fences were sent from memory, then the drive log has that too")
  func secondCopy() async throws {
    let (rig, _, sender) = try await rig()
    let log = rig.folder.file("drive.jsonl")
    let header = DriveLogHeader(started: .rigStart, initialPath: .cellular, parameters: nil)
    try DriveLogWriter(path: log, header: header).sync()
    let part = part(of: 1, test: try await rig.test(), log: log)
    try await sender.hold([part], sent: [])
    #expect(try await sender.pass(.memory).fencesSent == 5)
    #expect(try RecordedDrive(path: log).accepted.map(\.fences) == [[0, 1, 2, 3, 4]])
    try await rig.finish()
  }

  @Test("when a batch waits with its test, then it keeps the test until it is sent, and its drive its end")
  func waitingTest() async throws {
    let part = part(of: 1, test: "T")
    let first = try DriveStore.inMemory()
    try await first.insert(part, sent: [])
    try await first.outbox.makeBatches(of: [1], limit: 400, at: .rigStart)
    let sent = try await first.batchesInMemory()
    #expect(sent.map(\.batch.test?.uuid) == ["T"] && sent.map(\.batch.state) == [.waiting])
    let second = try DriveStore.inMemory()
    try await second.insert(part, sent: sent)
    #expect(try await second.outbox.batches(of: [1], in: [.waiting]).map(\.test?.uuid) == ["T"])
    let reason = try await second.database.read { try String.fetchOne($0, sql: "SELECT stop_reason FROM drive") }
    #expect(reason == StopReason.duration.rawValue)
  }
}
