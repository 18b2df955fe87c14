import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Submission

/// Background passes: their start, their waits, and clocks that are set meanwhile.
@Suite(.serialized)
struct KeepSendingSlowTests {
  @Test(
    "when a process keeps sending, then its first pass is cold, the next one waits 15 min or the back-off, or for a nudge"
  )
  func keepSending() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    try await rig.tool.setFault("503", on: "settings", count: 1)
    let sender = try rig.sender { $0.gate.spread = .zero }
    rig.time.holdsSleepers = true
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    // Half of the first back-off.
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(16) ? true : nil }
    rig.time.turn(by: .seconds(16))
    await sender.nudge()
    _ = try await eventually("the second pass") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    #expect(try await rig.holdsAllOnce(2))
    _ = try rig.record(tests: [nil], started: 60)
    await sender.nudge()
    _ = try await eventually("the third pass") { try await rig.holdsAllOnce(4) ? true : nil }
    sending.cancel()
    _ = await sending.value
    try await rig.finish()
  }

  @Test("when fences without a session are young at the start, then they are sent once they are old enough")
  func youngOrphans() async throws {
    let rig = try await SendingRig()
    try await rig.store.loseSessions(of: try rig.record(tests: [nil]))
    let sender = try rig.sender {
      $0.gate.spread = .zero
      $0.legacyThreshold = .seconds(7400)
    }
    rig.time.holdsSleepers = true
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(900) ? true : nil }
    #expect(try await rig.tool.fences().isEmpty)
    rig.time.turn(by: .seconds(900))
    await sender.nudge()
    _ = try await eventually("the next pass") { try await rig.holdsAllOnce(2) ? true : nil }
    sending.cancel()
    _ = await sending.value
    try await rig.finish()
  }

  @Test(
    "when the clock is not set at the start, then unfinished sessions of an earlier process are sent once it is set")
  func coldAfterClock() async throws {
    let rig = try await SendingRig()
    _ = try rig.record(tests: [nil], finalized: false)
    let sender = try rig.sender { $0.gate.spread = .zero }
    rig.time.holdsSleepers = true
    rig.time.wallError = .seconds(-40 * 365 * 86_400)
    let sending = Task { await sender.keepSending() }
    defer { sending.cancel() }
    _ = try await eventually("the first wait") { rig.time.sleeps.last == .seconds(10) ? true : nil }
    rig.time.wallError = .zero
    await sender.nudge()
    _ = try await eventually("the cold pass") { try await rig.holdsAllOnce(2) ? true : nil }
    sending.cancel()
    _ = await sending.value
    try await rig.finish()
  }

  @Test("when the clock is set while a pass waits, then the fences leave with their true times")
  func setDuringPass() async throws {
    let rig = try await SendingRig()
    // The clock is two hours slow; later it is set to the server's time.
    let booted = rig.time.agreeWithServer()
    let slow = booted.later(by: .seconds(-7200))
    let drive = try rig.record(tests: [nil], started: (slow - .rigStart).inSeconds, boot: ("boot 1", .zero))
    try await rig.store.end(drive: drive, at: slow.later(by: .seconds(4000)))
    rig.time.wallError -= .seconds(7200)
    rig.time.holdsSleepers = true
    let sender = try rig.sender()
    let background = Task { try await sender.pass(.cold, urgency: .background) }
    _ = try await eventually("the wait for the spread") { rig.time.sleeps.last == .seconds(30) ? true : nil }
    rig.time.wallError += .seconds(7200)
    _ = try await sender.pass(.warm)
    #expect(try await background.value.fencesSent == 2)
    let received = try await rig.received().keys.sorted()
    let times = [0, 4].map { Int(booted.microseconds) + $0 * 1_000_000 }
    #expect(received.count == 2 && zip(received, times).allSatisfy { abs($0 - $1) <= 1000 }, "\(received), \(times)")
    try await rig.finish()
  }
}
