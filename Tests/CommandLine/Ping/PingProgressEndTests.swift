import TestSupport
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// How a run of pings ends, with real pings to a port that stays silent.
struct PingProgressEndTests {
  /// Receives pings and answers none.
  private let silent: DatagramReceiver
  private let fleet: PingFleet
  private var progress: PingProgress

  init() throws {
    silent = try DatagramReceiver()
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: silent.port))
    let target = PingTarget(
      address: address, echo: .oneWay, interval: .milliseconds(10), timeout: .seconds(60), count: 0)
    var fleet = try PingFleet([("127.0.0.1", target)], threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(fleet.begin().isEmpty)
    self.fleet = fleet
    var options = PingOptions()
    options.output.format = .text
    progress = PingProgress(
      fleet: fleet, capture: nil, options: options, inputs: AsyncStream<PingProgress.Input>.makeStream().continuation)
  }

  /// Handles the pinger's events until the run is over.
  private mutating func handleAll() async throws -> [String] {
    var lines: [String] = []
    _ = try await eventually("the run is over") {
      let batch = fleet.pingers[0].events.available()
      progress.handle(.pings(batch, pinger: 0, taken: {}), print: { lines.append($0) }, note: { _ in })
      return progress.isRunning ? nil : ()
    }
    return lines
  }

  private func someUnderWay() async throws {
    _ = try await eventually("pings are under way") { fleet.underWay(0) >= 2 ? () : nil }
  }

  @Test(
    "when the operator stops, then verdicts are still expected, and a summary in between counts the pings in flight")
  mutating func stop() async throws {
    try await someUnderWay()
    fleet.stop()
    progress.handle(.stop, print: { _ in }, note: { _ in })
    #expect(progress.isStopped && progress.isRunning && !progress.haveAllAnswered)
    var lines: [String] = []
    progress.handle(.interim, print: { lines.append($0) }, note: { _ in })
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("127.0.0.1: 0 sent, 0 answered, 0 lost, ") == true)
    #expect(lines.first?.contains(" in flight") == true)
  }

  @Test("when the run is abandoned, then pings under way are cancelled, and count as sent, not as lost")
  mutating func abandon() async throws {
    try await someUnderWay()
    fleet.stop()
    progress.handle(.abandon, print: { _ in }, note: { _ in })
    #expect(progress.isStopped)
    let lines = try await handleAll()
    let cancelled = lines.filter { $0.hasSuffix(" cancelled") }
    #expect(cancelled.count >= 2)
    var summary: [String] = []
    progress.sumUp { summary.append($0) }
    #expect(summary.first?.hasPrefix("127.0.0.1: \(cancelled.count) sent, 0 answered, 0 lost") == true, "\(summary)")
    #expect(summary.first?.contains(", \(cancelled.count) without an answer when it ended") == true)
  }

  @Test("when a batch is handled, then it is acknowledged once, after its lines are printed")
  mutating func taken() async throws {
    let order = LogLines()
    let lost = PingEvent(
      target: fleet.members[0].id, kind: .lost(.unknown), number: 0, sequence: 0, slot: 0, sent: 1, occurred: 2)
    progress.handle(
      .pings([lost], pinger: 0, taken: { order.append("taken") }),
      print: { order.append($0) }, note: { _ in })
    #expect(order.messages == ["127.0.0.1: ping 0 lost", "taken"])
  }
}
