import Coverage
import TestSupport
import Testing

@testable import Store

/// Wall times of drives on hosts whose clock was wrong.
struct ClockTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let unset = WallTime(microseconds: 40_000_000)

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func session() throws -> StoredSession { try #require(try StoreReader(store).sessions().first) }

  @Test(
    "when the clock is set in mid-drive, then the stored times move, and the anchor stays at the time that the server has"
  )
  func setInMidDrive() throws {
    var recorder = try DriveRecorder(store, started: unset, log: nil)
    func session(anchor: DriveTime) -> Session {
      Session(number: 0, testUUID: "T1", started: .start, anchor: anchor)
    }
    try recorder.save(sessions: [session(anchor: .seconds(3))], fences: [.sample(entered: 5)], seen: .seconds(20))

    recorder.started = .sampleStart
    // The engine has moved the anchor back by as much.
    let moved = (unset + .seconds(3)).since(.sampleStart)
    try recorder.save(sessions: [session(anchor: moved)], fences: [.sample(number: 1, entered: 30)], seen: .seconds(40))

    let stored = try self.session()
    #expect(stored.driveStarted == .sampleStart)
    #expect(stored.session.started == .start)
    #expect(stored.session.anchor.map { stored.driveStarted + $0 } == unset + .seconds(3))
    let fences = try StoreReader(store).fences(of: stored).map(\.fence)
    #expect(fences.map(\.entered) == [.seconds(5), .seconds(30)])
    #expect(fences[0].exited == Fence.sample(entered: 5).exited)
  }

  @Test("when the clock is set only after the drive, then its times are corrected by the time since the boot")
  func setAfterwards() async throws {
    var recorder = try DriveRecorder(store, started: unset, boot: ("B", .seconds(40)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 5)], seen: .seconds(20))
    try recorder.end(at: .seconds(30), reason: .user)

    #expect(try await store.clockSettlement.settle(bootID: "B", sinceBoot: .seconds(100), now: unset) == .init())
    let settled = try await store.clockSettlement.settle(
      bootID: "B", sinceBoot: .seconds(100), now: .sampleStart + .seconds(60))
    #expect(settled.corrected == [recorder.drive])
    #expect(try session().driveStarted == .sampleStart)
    let again = try await store.clockSettlement.settle(
      bootID: "B", sinceBoot: .seconds(200), now: .sampleStart + .seconds(160))
    #expect(again == .init())
  }

  @Test(
    "when the times of a drive are corrected, then those of its speed tests are too, unless their result may have been sent"
  )
  func speedTests() async throws {
    var recorder = try DriveRecorder(store, started: unset, boot: ("B", .seconds(40)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 5)], seen: .seconds(20))
    var ids: [Int64] = []
    for test in ["waits", "left"] {
      var start = SpeedTestOutbox.Start(
        controlServer: "https://host", clientUUID: "C", testUUID: test, token: "t", started: unset + .seconds(8))
      start.drive = recorder.drive
      let id = try await store.speedTests.begin(start)
      try await store.speedTests.end(id, .init(.completed, at: unset + .seconds(28), figures: .sample()))
      ids.append(id)
    }
    try await store.speedTests.beginSending(ids[1], .result, at: unset)
    try recorder.end(at: .seconds(30), reason: .user)
    _ = try await store.clockSettlement.settle(
      bootID: "B", sinceBoot: .seconds(100), now: .sampleStart + .seconds(60))
    let tests = try StoreReader(store).speedTests().sorted { $0.id < $1.id }
    #expect(tests.map(\.started) == [.sampleStart + .seconds(8), unset + .seconds(8)])
    #expect(tests.map(\.ended) == [.sampleStart + .seconds(28), unset + .seconds(28)])
    let copy = try String(contentsOfFile: store.directory.copies + "/speed_test-\(ids[0]).jsonl", encoding: .utf8)
    #expect(copy.contains("\((WallTime.sampleStart + .seconds(28)).microseconds)"), "a start may restore it")
    #expect(try await store.inspection.damagedRows() == 0)
  }

  @Test(
    "when the clock of an earlier boot was never right, then its sessions are quarantined, with the clock as the reason"
  )
  func neverSet() async throws {
    var recorder = try DriveRecorder(store, started: unset, boot: ("A", .seconds(40)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, started: .start)], fences: [.sample(entered: 5)], seen: .seconds(20))
    try recorder.end(at: .seconds(30), reason: .user)
    let settled = try await store.clockSettlement.settle(bootID: "B", sinceBoot: .seconds(100), now: .sampleStart)
    #expect(settled.lost == [recorder.drive])
    #expect(try session().quarantineReason?.contains("clock") == true)
    #expect(try session().driveStarted == unset)
  }

  @Test("when a drive was sent, then its times stay as the server has them")
  func sent() async throws {
    var recorder = try DriveRecorder(store, started: unset, boot: ("B", .seconds(40)), log: nil)
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T1", started: .start)], fences: [.sample(entered: 5)],
      seen: .seconds(20))
    try recorder.end(at: .seconds(30), reason: .user)
    try await store.outbox.makeBatches(of: [try session().id], limit: 400, at: .sampleStart)
    for batch in try await store.outbox.batches(of: [try session().id], in: [.waiting]) {
      try await store.outbox.markSubmitted(batch: batch.id, at: .sampleStart)
    }
    let settled = try await store.clockSettlement.settle(bootID: "B", sinceBoot: .seconds(100), now: .sampleStart)
    #expect(settled == .init())
  }

  /// Records a drive without ending it.
  private func interrupted(_ link: String, started: WallTime, boot: (String, Duration)? = nil) throws {
    var recorder = try DriveRecorder(store, started: started, boot: boot, log: nil, link: link)
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "\(recorder.drive)", started: .start, loopUUID: "L\(link)")],
      fences: [.sample(entered: 5)], seen: .seconds(20))
  }

  private func loops(_ bootID: String, sinceBoot: Double, now: WallTime) async throws -> [String?: String] {
    try await store.drives.loopsToContinue(bootID: bootID, sinceBoot: .seconds(sinceBoot), now: now)
  }

  @Test("when a drive was interrupted within the last hour, then the next one on that link continues its loop")
  func loops() async throws {
    for (link, age) in [("A", 600.0), ("B", 7200)] {
      try interrupted(link, started: .sampleStart + .seconds(-age))
    }
    #expect(try await loops("C", sinceBoot: 10, now: .sampleStart) == ["A": "LA"])
    try await store.drives.endInterrupted()
    #expect(try await loops("C", sinceBoot: 10, now: .sampleStart) == ["A": "LA"], "also by a drive that begins later")
    var next = try DriveRecorder(store, started: .sampleStart, log: nil, link: "A")
    try next.save(sessions: [Session(number: 0, started: .start)], fences: [], seen: .start)
    try next.end(at: .seconds(9), reason: .user)
    #expect(try await loops("C", sinceBoot: 10, now: .sampleStart).isEmpty, "another drive came between")
  }

  @Test(
    "when the clock cannot date an interruption, then the time since the boot does, or the loop does not continue")
  func loopsAndClock() async throws {
    try interrupted("A", started: unset, boot: ("B", .seconds(40)))
    let later = WallTime.sampleStart + .seconds(86_400)
    #expect(try await loops("B", sinceBoot: 100, now: later) == ["A": "LA"], "the clock was set since")
    #expect(try await loops("B", sinceBoot: 7200, now: unset).isEmpty)
    #expect(try await loops("C", sinceBoot: 100, now: unset + .seconds(60)).isEmpty, "both began at 1970")
    try interrupted("A", started: .sampleStart, boot: ("B", .seconds(40)))
    #expect(try await loops("C", sinceBoot: 100, now: unset).isEmpty, "at 1970 the interruption is in the future")
  }

  @Test("when a fence's times are damaged, then they do not date the interruption of its drive")
  func damagedTimes() async throws {
    try interrupted("A", started: .sampleStart, boot: ("B", .seconds(40)))
    for time in ["9223372036854775807", "-9223372036854775808"] {
      try await store.damage("UPDATE fence SET last_seen_at = \(time)")
      #expect(try await loops("B", sinceBoot: 100, now: .sampleStart).isEmpty)
    }
  }

  @Test("when the kernel gives no boot id, then no drive counts as one of this boot")
  func unknownBoot() async throws {
    let recorder = try DriveRecorder(store, started: .sampleStart, boot: ("", .seconds(40)), log: nil)
    try recorder.end(at: .seconds(30), reason: .user)
    let settled = try await store.clockSettlement.settle(
      bootID: "", sinceBoot: .seconds(100), now: .sampleStart + .seconds(86_400))
    #expect(settled == .init())
  }
}
