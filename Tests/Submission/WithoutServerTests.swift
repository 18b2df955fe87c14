import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// A device without a control server: what waits for one waits on, kept drives wait for nothing, and the store is looked after.
struct WithoutServerTests {
  private let folder: TemporaryFolder
  private let store: DriveStore
  private let time = TurnedClock()
  private let lines = LogLines()

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
  }

  private func sender(_ change: (inout SenderSettings) -> Void = { _ in }) throws -> Sender {
    var settings = SenderSettings()
    change(&settings)
    let device = Device(
      model: "test", device: "test", osVersion: "1", language: "en", timezone: "Etc/UTC", softwareVersion: "1.0",
      softwareVersionCode: 1, softwareRevision: "test")
    return try Sender(
      store: store, server: .absent(device), settings: settings, clock: time.clock, logger: lines.logger)
  }

  private func record(target: DriveTarget?, fences: Int = 2) throws {
    var recorder = try DriveRecorder(store, started: .rigStart, log: nil, target: target)
    try recorder.save(
      sessions: [Session(number: 0, started: .start, finalized: .seconds(600))],
      fences: (0..<fences).map { .sample(number: $0, entered: Double($0) * 4) }, seen: .seconds(600))
    try recorder.end(at: .seconds(600), reason: .user)
  }

  @Test("when only kept drives are stored, then a pass has nothing to do, and no wait follows it")
  func kept() async throws {
    try record(target: DriveTarget(.icmp, host: "192.0.2.1"))
    let sender = try sender()
    let report = try await sender.pass(.cold)
    #expect(report == PassReport() && report.isUnhindered)
    #expect(await sender.status.nextAttemptInMilliseconds == 0)
    #expect(await sender.lastPass == nil)
  }

  @Test("when another drive waits, then the pass says what it lacks, and the fences stay")
  func waiting() async throws {
    try record(target: nil)
    let sender = try sender()
    for mode in [PassMode.cold, .warm] {
      let report = try await sender.pass(mode)
      #expect((report.sessionsKept, report.fencesSent) == (1, 0))
      #expect(report.firstFailure.map { "\($0)" } == "cannot reach the control server (control-server.url is not set)")
    }
    #expect(await sender.status.nextAttemptInMilliseconds == 0, "no request was sent, so that none has failed")
    #expect(try StoreReader(store).sessions().map(\.waitingFences) == [2])
  }

  @Test("when the store holds too many kept fences, then a pass deletes the oldest ones")
  func housekeeping() async throws {
    for _ in 0..<2 { try record(target: DriveTarget(.icmp, host: "192.0.2.1"), fences: 6) }
    _ = try await sender { $0.quota = Quota(bytes: .max, fences: 8) }.pass(.cold)
    #expect(try StoreReader(store).sessions().map(\.fences) == [2, 6])
  }
}
