import TestSupport
import Testing

@testable import Driving
@testable import Pinging
@testable import Service
@testable import coverage_probe

/// Targets that are distributed over several pingers.
struct PingFleetTests {
  private func targets(_ hosts: String...) throws -> [(name: String, target: PingTarget)] {
    try hosts.map { host in
      let address = try #require(PingAddress(numeric: host == "localhost" ? "127.0.0.1" : host, port: 9))
      return (host, PingTarget(address: address, echo: .oneWay, count: 1))
    }
  }

  @Test("when targets are distributed, then the threads get them in turn, and there are no more threads than targets")
  func dealing() throws {
    let fleet = try PingFleet(try targets("127.0.0.1", "127.0.0.2", "127.0.0.3"), threads: 2)
    #expect(fleet.members.map(\.pinger) == [0, 1, 0])
    #expect(fleet.pingers.count == 2)
    #expect(try PingFleet(try targets("127.0.0.1"), threads: 8).pingers.count == 1)
  }

  @Test("when one target cannot be opened, then its error says why, and only the others are members")
  func refusal() throws {
    var targets = try targets("127.0.0.1", "127.0.0.2", "127.0.0.3")
    targets[1].target.interface = "nosuchinterface"
    var fleet = try PingFleet(targets, threads: 1)
    let refusals = fleet.open()
    #expect(refusals.count == 1)
    #expect(refusals.first?.description.hasPrefix("cannot ping 127.0.0.2: ") == true)
    #expect(refusals.first?.description.contains("nosuchinterface") == true)
    #expect(fleet.members.map(\.name) == ["127.0.0.1", "127.0.0.3"])
    #expect(fleet.index(pinger: 0, target: fleet.members[1].id) == 1)
  }

  @Test("when targets begin together, then their pings share the interval evenly")
  func spreadStarts() async throws {
    let names = (1...10).map { "127.0.1.\($0)" }
    let targets = try names.map { name in
      let address = try #require(PingAddress(numeric: name, port: 9))
      return (name: name, target: PingTarget(address: address, echo: .oneWay, interval: .milliseconds(500), count: 1))
    }
    var fleet = try PingFleet(targets, threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(fleet.begin().isEmpty)
    var slots: [UInt64] = []
    for await event in fleet.pingers[0].events where event.isOfKnownPing && event.slot > 0 {
      slots.append(event.slot)
      if slots.count == targets.count { break }
    }
    slots.sort()
    let gaps = zip(slots, slots.dropFirst()).map { $1 - $0 }
    // 450 ms, but a busy machine delays the first and the last start.
    #expect(gaps.reduce(0, +) > 400_000_000)
    #expect(gaps.count { $0 == 50_000_000 } >= 5, "\(gaps)")
  }

  @Test("when two pingers give the same number to their targets, then their events are distinguished")
  func numbers() throws {
    var fleet = try PingFleet(try targets("127.0.0.1", "127.0.0.2"), threads: 2)
    #expect(fleet.open().isEmpty)
    #expect(fleet.members[0].id == fleet.members[1].id)
    #expect(fleet.index(pinger: 0, target: fleet.members[0].id) == 0)
    #expect(fleet.index(pinger: 1, target: fleet.members[1].id) == 1)
    #expect(fleet.index(pinger: 0, target: 0) == nil)
    let flows = fleet.flows()
    #expect(flows.map(\.host) == ["127.0.0.1", "127.0.0.2"])
    #expect(Set(flows.map(\.echo)).count == 2, "each pinger has a port of its own")
  }

  @Test("when a target was given by name, then its name is resolved after silence; numeric targets never are")
  func names() throws {
    var fleet = try PingFleet(try targets("127.0.0.1", "localhost"), threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(fleet.begin().isEmpty)
    let later = Pinger.now + 31_000_000_000
    #expect(fleet.members[1].label == "localhost (127.0.0.1)")
    let wanted = [fleet.wantedLookUps(at: later, limit: 0), fleet.wantedLookUps(at: later, limit: 8)]
    #expect(wanted == [[], [1]])
    let new = try #require(PingAddress(numeric: "127.0.0.9", port: 9))
    let found = fleet.found([new], for: 1, at: later)
    #expect(found == new)
    try fleet.redirect(1)
    #expect(fleet.members[1].label == "localhost (127.0.0.9)")
    #expect(fleet.flows().map(\.host) == ["127.0.0.1", "127.0.0.9"])
  }

  @Test(
    "when look-ups of a silent name fail, then the first failure of each outage is reported, and none after an answer"
  )
  func failures() throws {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 9))
    var fleet = try PingFleet([("a.test", PingTarget(address: address, echo: .oneWay, count: 1))], threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(fleet.begin().isEmpty)
    var now = Pinger.now
    func isReported(meanwhile: (inout PingFleet) -> Void = { _ in }) -> Bool {
      now += 31_000_000_000
      #expect(fleet.wantedLookUps(at: now, limit: 1) == [0])
      meanwhile(&fleet)
      return fleet.lookUpFailed(0, at: now)
    }
    #expect(isReported())
    #expect(!isReported())
    fleet.heard(0, at: now)
    #expect(isReported(), "another outage")
    #expect(!isReported { $0.heard(0, at: now) }, "it answers again")
    #expect(isReported(), "the third outage")
  }

  @Test("when all pings have a verdict, or no ping is under way after a stop, then a target has finished")
  func finished() async throws {
    var fleet = try PingFleet(try targets("127.0.0.1", "127.0.0.2"), threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(!fleet.hasFinished(0, isStopped: false))
    #expect(fleet.hasFinished(0, isStopped: true))
    #expect(fleet.begin().isEmpty)
    try await eventually("both have finished") {
      fleet.hasFinished(0, isStopped: false) && fleet.hasFinished(1, isStopped: false) ? () : nil
    }
  }
}
