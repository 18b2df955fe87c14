import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Data that a pass must not touch while drives and requests run beside it, without a server.
struct PassFenceTests {
  private static let lull = ServerFailure.serverTrouble(status: 503, message: "", retryAfter: .seconds(100))

  private func timekeeper(_ rig: GateRig) throws -> Timekeeper {
    try Timekeeper(store: rig.store, latestDate: { nil }, clock: rig.time.clock, logger: rig.lines.logger)
  }

  @Test("when a drive begins while a pass reads which drives run, then the pass leaves that drive alone")
  func beginningDrive() async throws {
    let rig = try GateRig()
    let housekeeping = Housekeeping(
      store: rig.store, retention: Retention(), quota: Quota(), clock: rig.time.clock,
      timekeeper: try timekeeper(rig), logger: rig.lines.logger)
    let begun = Begun()
    let first = try await housekeeping.firstRunningDrive {
      // Read before the drive is known; the drive takes its number right after.
      await begun.begin(in: rig.store)
      return nil
    }
    let drive = try #require(await begun.drive)
    #expect(drive >= first)
  }

  @Test("when the gate holds a batch at the last moment, then nothing of it is sent, and its state stays waiting")
  func heldBatch() async throws {
    let (failing, failed, store) = (Counter(), Counter(), Counter())
    let rig = try GateRig { step, _ in
      guard step == .coverageRequest else { return }
      _ = try await eventually("the batch that is about to leave") { store.count > 0 ? true : nil }
      failing.increment()
      throw Self.lull
    }
    // Registers the device.
    _ = try await rig.registration.clientUUID(for: GatedServer.Exchange())
    var recorder = try DriveRecorder(rig.store, started: .rigStart, log: nil, server: rig.spy.url)
    try recorder.save(
      sessions: [Session(number: 0, testUUID: "T", started: .start, anchor: .seconds(1), finalized: .seconds(40))],
      fences: [.sample(number: 0)], seen: .seconds(40))
    try recorder.end(at: .seconds(40), reason: .user)
    let hook = DatabaseFunction("hold_batch", argumentCount: 0) { _ in
      store.increment()
      for _ in 0..<3000 where failed.count == 0 { Thread.sleep(forTimeInterval: 0.01) }
      return nil
    }
    try await rig.store.database.write { db in
      db.add(function: hook)
      try db.execute(
        sql: """
          CREATE TEMP TRIGGER hold BEFORE UPDATE OF state ON batch WHEN NEW.state = 'sending'
          BEGIN SELECT hold_batch(); END
          """)
    }
    // The pass reads the clocks again after the gate has recorded the failure.
    let timekeeper = try Timekeeper(
      store: rig.store,
      latestDate: {
        if failing.count > 0 { failed.increment() }
        return nil
      }, clock: rig.time.clock, logger: rig.lines.logger)
    let sender = try Sender(
      store: rig.store, serving: rig.spy, settings: SenderSettings(), clock: rig.time.clock,
      timekeeper: timekeeper, logger: rig.lines.logger)
    let request = Task { try await sender.tests.requestTest(loopUUID: nil, at: .rigStart) }
    let report = try await sender.pass(.warm)
    await #expect(throws: ServerFailure.self) { try await request.value }
    #expect(report.hold == .gate(.retryAfter(.seconds(100))), "\(rig.lines.all)")
    #expect(!rig.spy.requests.contains(.coverageResult))
    let states = try await rig.store.database.read { try String.fetchAll($0, sql: "SELECT state FROM batch") }
    #expect(states == ["waiting"])
  }
}

/// A drive that begins.
private actor Begun {
  private(set) var drive: Int64?

  func begin(in store: DriveStore) { drive = (try? DriveRecorder(store, started: .rigStart, log: nil))?.drive }
}
