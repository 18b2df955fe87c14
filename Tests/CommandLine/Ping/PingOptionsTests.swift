import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// The settings of a `ping` run, as its pingers get them.
struct PingOptionsTests {
  private func options(_ change: (inout PingOptions) -> Void) -> PingOptions {
    var options = PingOptions()
    change(&options)
    return options
  }

  @Test(
    "when a token is not Base64 of 16 bytes, then it is rejected",
    arguments: [
      ("aOd4ALM2UBOl/LOaoRW9UA==", 16), ("", nil), ("aOd4ALM2UBOl/LOaoRW9", nil), ("aOd4ALM2UBOl/LOaoRW9UAAA", nil),
      ("aOd4ALM2UBOl_LOaoRW9UA==", nil), ("aOd4ALM2UBOl/LOaoRW9UA", nil), (" aOd4ALM2UBOl/LOaoRW9UA==", nil),
    ] as [(String, Int?)])
  func token(text: String, bytes: Int?) {
    #expect(PingOptions.token(text)?.count == bytes)
  }

  @Test("when pings flood, then real-time scheduling is requested only if the operator wants it")
  func realtime() {
    #expect(PingOptions().pinger.isRealtime)
    #expect(!options { $0.target.floodWindow = 64 }.pinger.isRealtime)
    #expect(options { ($0.target.floodWindow, $0.isRealtime) = (64, true) }.pinger.isRealtime)
  }

  @Test("when a run waits for late replies, then it remembers pings as long, and at least for the default time")
  func memory() {
    let usual = Pinger.Options()
    #expect(options { $0.linger = .seconds(1) }.pinger.memory == usual.memory)
    #expect(options { $0.linger = .seconds(60) }.pinger.memory == .seconds(60))
    #expect(PingOptions().pinger.remembered == usual.remembered)
    #expect(options { $0.remembered = 5 }.pinger.remembered == 5)
  }

  @Test("when the event capacity is above the limit, then the fleet reduces it")
  func ring() throws {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 9))
    let targets = (0..<3).map { (name: "\($0)", target: PingTarget(address: address, echo: .oneWay, count: 1)) }
    var options = Pinger.Options()
    options.eventCapacity = .max
    #expect(throws: Never.self) { try PingFleet(targets, threads: 1, options: options) }
  }

  @Test("when a socket has an interface, a mark or a link-local source, then reopening it needs a privilege")
  func privileges() throws {
    func needs(_ change: (inout PingTarget) throws -> Void) throws -> Bool {
      var target = PingTarget(address: try #require(PingAddress(numeric: "127.0.0.1", port: 9)), echo: .oneWay)
      try change(&target)
      return try PingFleet([("a", target)], threads: 1).needsPrivileges
    }
    #expect(try !needs { _ in })
    #expect(try needs { $0.interface = "lo" })
    #expect(try needs { $0.mark = 7 })
    #expect(try !needs { $0.source = PingAddress(numeric: "127.0.0.2", port: 0) })
    #expect(try needs { $0.source = PingAddress(numeric: "fe80::1%lo", port: 0) })
  }

  @Test("when the operator asks how pings are scheduled, then the line names the policy")
  func scheduling() throws {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 9))
    let fleet = try PingFleet([("a", PingTarget(address: address, echo: .oneWay))], threads: 1)
    #expect(fleet.scheduling == "pinging without SCHED_FIFO")
  }

  @Test("when no target can be pinged, then the run fails before a ping is sent, and a line says why for each")
  func nothingToPing() async throws {
    let run = PingRun(
      targets: ["no-such-host.invalid"], problems: PingTargetList("a b", file: "list").problems,
      options: options { $0.target = PingTarget(address: .unresolved(port: 9), echo: .oneWay) })
    var notes: [String] = []
    var printed: [String] = []
    let (stop, _) = AsyncStream<Void>.makeStream()
    let (interim, _) = AsyncStream<Void>.makeStream()
    let outcome = try await run.run(
      stop: stop, interim: interim, print: { printed.append($0) }, note: { notes.append($0) })
    #expect(outcome == .failed && printed.isEmpty)
    #expect(notes.first == "coverage-probe: list:1: the line has more than one target")
    #expect(notes.last?.hasPrefix("coverage-probe: cannot find the address of no-such-host.invalid: ") == true)
    #expect(notes.count == 2)
  }
}
