import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store
@testable import Submission

/// Drives of this boot whose times a wrong clock of the host would change, with the real control server tool.
@Suite(.serialized)
struct TimekeepingSlowTests {
  private static let errors: [Duration] = [.seconds(3600), .seconds(10 * 86_400), .seconds(11 * 365 * 86_400)]

  /// A drive of ten minutes ago, of this boot, with its true times.
  private func record(
    _ rig: SendingRig, booted: WallTime, sinceBoot: Duration = .seconds(400)
  ) async throws -> [Int] {
    let started = booted.later(by: sinceBoot)
    let drive = try rig.record(
      tests: [nil], started: (started - .rigStart).inSeconds, boot: ("boot 1", sinceBoot))
    try await rig.store.end(drive: drive, at: started.later(by: .seconds(300)))
    return [0, 4].map { Int(started.microseconds) + $0 * 1_000_000 }
  }

  /// The wire has truncated milliseconds; the store has microseconds.
  private static func agree(_ received: [Int], _ recorded: [Int]) -> Bool {
    received.count == recorded.count && zip(received, recorded).allSatisfy { abs($0 - $1) <= 1000 }
  }

  @Test(
    "when the clock is wrong at the next start of the same boot, then the server's Date keeps the times right",
    arguments: errors)
  func nextStart(_ error: Duration) async throws {
    let rig = try await SendingRig()
    let booted = rig.time.agreeWithServer()
    let times = try await record(rig, booted: booted)
    rig.time.wallError += error
    rig.time.catchUp(booted)
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    #expect(Self.agree(received, times), "received \(received), recorded \(times)")
    try await rig.finish()
  }

  @Test("when the clock steps while a pass waits, then the fences leave with their true times", arguments: errors)
  func stepDuringPass(_ error: Duration) async throws {
    let rig = try await SendingRig()
    let times = try await record(rig, booted: rig.time.agreeWithServer())
    rig.time.holdsSleepers = true
    let sender = try rig.sender()
    let background = Task { try await sender.pass(.cold, urgency: .background) }
    _ = try await eventually("the wait for the spread") { rig.time.sleeps.last == .seconds(30) ? true : nil }
    rig.time.wallError += error
    _ = try await sender.pass(.warm)
    #expect(try await background.value.fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    #expect(Self.agree(received, times), "received \(received), recorded \(times)")
    try await rig.finish()
  }

  @Test("when the clock was wrong during the drive and the server agrees with it now, then the times are right")
  func setSince() async throws {
    let rig = try await SendingRig()
    let booted = rig.time.agreeWithServer()
    _ = try await record(rig, booted: booted.later(by: .seconds(-86_400 * 3)))
    rig.time.catchUp(booted)
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    let started = Int(booted.later(by: .seconds(400)).microseconds)
    let received = try await rig.received().keys.sorted()
    #expect(received.count == 2 && abs((received.first ?? 0) - started) < 1000, "\(received), \(started)")
    try await rig.finish()
  }

  @Test("when the server contradicts both the present clock and the clock of the drive, then the times stay")
  func threeOpinions() async throws {
    let rig = try await SendingRig()
    let times = try await record(rig, booted: rig.time.agreeWithServer().later(by: .seconds(-86_400)))
    rig.time.wallError += .seconds(3600)
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    #expect(Self.agree(received, times), "received \(received), recorded \(times)")
    try await rig.finish()
  }

  @Test("when the server fails, then a clock that no other clock has confirmed changes no times")
  func noServer() async throws {
    let rig = try await SendingRig()
    _ = try await record(rig, booted: rig.time.agreeWithServer())
    rig.time.wallError += .seconds(3600)
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let before = try StoreReader(rig.store).sessions().map(\.driveStarted)
    #expect(try await rig.sender().pass(.cold).sessionsKept == 1)
    #expect(try StoreReader(rig.store).sessions().map(\.driveStarted) == before)
    try await rig.finish()
  }

  @Test("when the receiver ruled in an earlier process of this boot, then it outvotes the clock in this one")
  func receiverOfEarlierProcess() async throws {
    let rig = try await SendingRig()
    let booted = rig.time.agreeWithServer()
    let times = try await record(rig, booted: booted)
    var clock = WallClock()
    for second in 1...20 {
      let boot = Duration.seconds(500 + second)
      clock.note(gnss: booted.adding(boot), receiver: "/dev/gps0", at: boot)
      clock.select(host: booted.adding(boot), at: boot)
    }
    try rig.store.clocks.persist(clock, ofBoot: "boot 1")
    rig.time.wallError += .seconds(3600)
    rig.time.catchUp(booted)
    let keeper = try Timekeeper(store: rig.store, server: rig.client, clock: rig.time.clock, logger: rig.lines.logger)
    #expect(keeper.read().selection.isConfirmed)
    #expect(keeper.agreement == .agrees)
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    #expect(Self.agree(received, times), "received \(received), recorded \(times)")
    try await rig.finish()
  }

  /// The clock readings that an earlier process of this boot persisted; the host's clock of that time dated the drive.
  private enum Evidence: String, CaseIterable {
    /// The host's clock was right at first, and was set forward by an hour before the drive.
    case formerHost
    /// A receiver reported the true time for too short a while to rule.
    case shortReceiver
  }

  private static func clock(_ evidence: Evidence, booted: WallTime, hostError: Duration) -> WallClock {
    var clock = WallClock()
    for second in 1...20 {
      let boot = Duration.seconds(350 + second)
      if evidence == .shortReceiver {
        clock.note(gnss: booted.adding(boot), receiver: "/dev/gps0", at: boot)
      }
      let isRight = evidence == .formerHost && second <= 10
      clock.select(host: booted.adding(boot + (isRight ? .zero : hostError)), at: boot)
    }
    return clock
  }

  @Test(
    "when the first answer of a pass shows that the drive's clock was wrong, then its first batch has the true times",
    arguments: Evidence.allCases)
  private func answerCorrectsClock(_ evidence: Evidence) async throws {
    let rig = try await SendingRig()
    let booted = rig.time.agreeWithServer()
    let hostError = Duration.seconds(3600)
    try rig.store.clocks.persist(Self.clock(evidence, booted: booted, hostError: hostError), ofBoot: "boot 1")
    let times = try await record(rig, booted: booted.later(by: hostError)).map { $0 - 3_600_000_000 }
    rig.time.wallError += hostError
    rig.time.catchUp(booted)
    #expect(try await rig.sender().pass(.cold).fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    #expect(Self.agree(received, times), "received \(received), true \(times)")
    try await rig.finish()
  }

  @Test("when times are corrected during a pass, then batches refused earlier are still sent in that pass")
  func correctionKeepsQuarantined() async throws {
    let rig = try await SendingRig()
    let booted = rig.time.agreeWithServer()
    let hostError = Duration.seconds(3600)
    try rig.store.clocks.persist(Self.clock(.formerHost, booted: booted, hostError: hostError), ofBoot: "boot 1")
    _ = try await record(rig, booted: booted.later(by: hostError))
    try await rig.store.outbox.makeBatches(of: [1], limit: 400, at: .rigStart)
    let refused = try #require(try await rig.store.outbox.batches(of: [1], in: [.waiting]).first)
    try await rig.store.outbox.quarantine(batch: refused, reason: "refused", at: .rigStart)
    _ = try await record(rig, booted: booted.later(by: hostError), sinceBoot: .seconds(460))
    rig.time.wallError += hostError
    rig.time.catchUp(booted)
    #expect(try await rig.sender().pass(.quarantined).fencesSent == 4)
    #expect(try await rig.holdsAllOnce(4))
    try await rig.finish()
  }
}
