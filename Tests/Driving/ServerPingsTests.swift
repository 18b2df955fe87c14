import TestSupport
import Testing

@testable import Driving
@testable import Pinging
@testable import Submission

/// The address of a drive's pings when the server falls silent, by a clock that only the test moves.
struct ServerPingsTests {
  private let second: UInt64 = 1_000_000_000
  private let old: PingAddress
  private let new: PingAddress

  init() throws {
    old = try .sample(2)
    new = try .sample(3)
  }

  private func start(_ host: String, generation: Int = 1) throws -> PingStart {
    PingStart(
      target: PingTarget(address: old, echo: .rtr(token: [])),
      grant: GrantedTest(
        coverage: try .sample("T", host: host), generation: generation, requested: .start, requestTime: .sampleStart),
      generation: generation, firstSlot: 0)
  }

  private func pings(to host: String) throws -> ServerPings {
    var pings = ServerPings()
    pings.begin(1, try start(host), at: 0)
    return pings
  }

  @Test("when the server was silent for 30 s, then its name is resolved once, and the pings go to its new address")
  func moves() throws {
    var pings = try pings(to: "server.example")
    let effects = (1...31 as ClosedRange<UInt64>).flatMap { pings.tick(at: $0 * second) }
    #expect(effects == [.lookUp(host: "server.example", like: old)])
    #expect(
      pings.found([new], of: "server.example", at: 32 * second) == [
        .log(.notice, "server.example was silent at 127.0.0.2:9 and is at 127.0.0.3:9 now; pinging there"),
        .redirectPings(1, to: new),
      ])
  }

  @Test("when the server was given by its address, answers, or is not pinged, then no name is resolved")
  func stays() throws {
    var numeric = try pings(to: "127.0.0.2")
    #expect(numeric.tick(at: 31 * second) == [])
    var answering = try pings(to: "server.example")
    answering.heard(.sample(.answered(rttNanoseconds: 1)), at: 29 * second)
    #expect(answering.tick(at: 31 * second) == [])
    var other = try pings(to: "server.example")
    other.heard(.sample(.answered(rttNanoseconds: 1), target: 2), at: 29 * second)
    #expect(other.tick(at: 31 * second).count == 1, "another target's answer is no sign of this one")
    var paused = try pings(to: "server.example")
    #expect(paused.stop(at: .start) == [.stopPings(1)])
    #expect(paused.tick(at: 29 * second) == [])
    #expect(paused.tick(at: 31 * second) == [])
  }

  @Test("when the answer is about an earlier test's server, or there is none, then the address does not change")
  func staleAnswers() throws {
    var pings = try pings(to: "server.example")
    _ = pings.tick(at: 31 * second)
    #expect(pings.found([new], of: "other.example", at: 32 * second) == [])
    #expect(pings.found([], of: "server.example", at: 32 * second) == [])
    var none = ServerPings()
    #expect(none.found([new], of: "server.example", at: 32 * second) == [])
    #expect(none.tick(at: 32 * second) == [] && none.stop(at: .start) == [])
  }

  @Test("when the name cannot be resolved, then the first failure of an outage is logged, and the look-ups go on")
  func failures() throws {
    var pings = try pings(to: "server.example")
    let line = DriveEffect.log(.notice, "the ping server at 127.0.0.2:9 is silent: no network")
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(pings.tick(at: number * 31 * second) == [.lookUp(host: "server.example", like: old)])
      let effects = pings.lookUpFailed("no network", of: "server.example", at: number * 31 * second)
      #expect(effects == (number == 1 ? [line] : []))
    }
    pings.heard(.sample(.answered(rttNanoseconds: 1)), at: 95 * second)
    _ = pings.tick(at: 126 * second)
    #expect(pings.lookUpFailed("no network", of: "server.example", at: 127 * second) == [line])
    #expect(pings.lookUpFailed("no network", of: "other.example", at: 127 * second) == [])
  }

  @Test("when pings have stopped, then those sent before count for their test until its last verdict")
  func cuts() throws {
    var pings = try pings(to: "server.example")
    _ = pings.stop(at: .seconds(5))
    #expect(pings.counts(1, at: .seconds(4.9)) && !pings.counts(1, at: .seconds(5)))
    pings.begin(2, try start("server.example", generation: 2), at: 0)
    #expect((pings.target, pings.generation, pings.generation(of: 1)) == (2, 2, 1))
    #expect(pings.finished(1) == [.removePings(1)])
    #expect(pings.generation(of: 1) == nil && pings.counts(1, at: .seconds(9)))
    #expect(pings.target == 2)
  }

  @Test(
    "when a host limits its errors to one a second, then all pings from the first one to the next answer met the closed port"
  )
  func limitedErrors() throws {
    let tenth = second / 10
    var port = ClosedPort(at: old)
    func error(_ slot: UInt64, from address: PingAddress) -> PingEvent {
      PingEvent(
        target: 1, kind: .icmpError(type: 3, code: 3), number: 1, sequence: 1, slot: slot, sent: slot, occurred: slot,
        from: address)
    }
    func isLost(_ slot: UInt64) -> Bool { port.outcome(of: .sample(.lost(.up), slot: slot)) == nil }
    // Each ping has its outcome a second later: the error of the ping that was sent then has come before it.
    for now: UInt64 in 0...50 {
      if now % 10 == 5, now < 40 { port.hear(error(now * tenth, from: old)) }
      if now >= 42 { port.hear(.sample(.answered(rttNanoseconds: 1), slot: now * tenth)) }
      guard now >= 10 else { continue }
      let slot = now - 10
      #expect(isLost(slot * tenth) == (slot < 5), "ping \(slot)")
    }
    #expect(isLost(42 * tenth) && !isLost(41 * tenth))
    var pings = try pings(to: "server.example")
    pings.heard(error(0, from: old), at: 0)
    pings.begin(2, try start("server.example", generation: 2), at: 0)
    #expect(pings.outcomeAtClosedPort(of: .sample(.lost(.up), target: 2, slot: tenth)) != nil, "the next test")
    port.hear(error(60 * tenth, from: new))
    #expect(isLost(60 * tenth), "another host's error")
    port.hear(error(80 * tenth, from: old))
    #expect(!isLost(41 * tenth) && !isLost(81 * tenth), "pings of the former time may be without an outcome")
    port.hear(error(.max, from: old))
    #expect(isLost(41 * tenth))
  }
}
