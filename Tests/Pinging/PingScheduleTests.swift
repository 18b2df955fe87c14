import Foundation
import TestSupport
import Testing

@testable import Pinging

/// The schedule of pings, and replies that come late or twice, with a real reflector.
struct PingScheduleTests {
  private static let millisecond: UInt64 = 1_000_000

  /// A target with an unsigned token: the reflector answers RE01.
  private func target(_ reflector: ReflectorTool, count: UInt64 = 0) throws -> PingTarget {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: reflector.port))
    let seconds = UInt32(clamping: Int64(Date.now.timeIntervalSince1970))
    let token = withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
    return PingTarget(
      address: address, echo: .rtr(token: token), interval: .milliseconds(10), timeout: .milliseconds(50), count: count)
  }

  /// The events of a target with `count` pings, until `isLast`.
  private func events(
    of reflector: ReflectorTool, count: UInt64 = 1, until isLast: (PingEvent) -> Bool
  ) async throws -> [PingEvent] {
    let pinger = try Pinger()
    _ = try pinger.start(try target(reflector, count: count))
    var events: [PingEvent] = []
    for await event in pinger.events {
      events.append(event)
      if isLast(event) { break }
    }
    pinger.shutdown()
    try await reflector.program.stop()
    return events
  }

  @Test("when the first slot is given, then the first ping has it, and the grid goes on from there")
  func firstSlot() async throws {
    let reflector = try await ReflectorTool([])
    let pinger = try Pinger()
    let first = Pinger.now + 30 * Self.millisecond
    _ = try pinger.start(try target(reflector, count: 3), at: first)
    for await event in pinger.events {
      if event.kind == .finished { break }
      #expect(event.slot == first + event.number * 10 * Self.millisecond)
      if let sent = event.sent { #expect(sent >= event.slot, "no ping leaves before its slot") }
    }
    pinger.shutdown()
    try await reflector.program.stop()
  }

  @Test("when a target is stopped, then pings under way get their verdict, and its end is reported after them")
  func stopped() async throws {
    let reflector = try await ReflectorTool(["--drop", "100"])
    let pinger = try Pinger()
    let id = try pinger.start(try target(reflector))
    _ = try await eventually("a ping is under way") { (pinger.state(of: id)?.underWay ?? 0) > 0 ? () : nil }
    pinger.stop(id)
    var kinds: [PingEvent.Kind] = []
    for await event in pinger.events {
      if case .missed = event.kind { continue }
      kinds.append(event.kind)
      if event.kind == .finished { break }
    }
    #expect(kinds.count >= 2 && kinds.dropLast().allSatisfy { $0 == .lost(.unknown) }, "\(kinds)")
    #expect(pinger.state(of: id)?.underWay == 0, "the target stays until it is removed")
    pinger.shutdown()
    try await reflector.program.stop()
  }

  @Test("when an answer comes after the timeout, then the ping stays lost, and the answer is reported as late")
  func late() async throws {
    let events = try await events(of: try await ReflectorTool(["--delay", "120"])) {
      if case .late = $0.kind { true } else { false }
    }
    let verdict = try #require(events.first)
    #expect(verdict.kind == .lost(.unknown) && !verdict.isSignOfLife)
    guard case .late(let rtt)? = events.last?.kind else {
      Issue.record("\(events)")
      return
    }
    #expect(rtt >= 120_000_000)
    #expect(events.last?.flags.contains(.refused) == true, "the late reply was RE01")
    #expect(events.last?.outcome == nil && events.last?.isSignOfLife == true)
    #expect(events.last?.number == verdict.number)
  }

  @Test("when a reply comes twice, then the first is the verdict, and the second is a duplicate that does not count")
  func duplicate() async throws {
    let events = try await events(of: try await ReflectorTool(["--duplicate", "100"])) { $0.kind == .duplicate }
    guard case .refused? = events.first?.kind else {
      Issue.record("\(events)")
      return
    }
    #expect(events.last?.outcome == nil && events.last?.isSignOfLife == true)
    #expect(events.last?.number == events.first?.number)
  }
}
