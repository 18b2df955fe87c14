import Evidence
import Foundation
import Logging
import TestSupport
import Testing

@testable import Agent
@testable import Pinging

/// Where a drive's pings go when the server falls silent, by a clock that only the test moves.
final class ServerPingsTests {
  private let second: UInt64 = 1_000_000_000
  private let pinger: Pinger
  private let old: PingAddress
  private let new: PingAddress
  private let lookUps = Notes()
  private let lines = Notes()

  init() throws {
    pinger = try Pinger()
    old = try #require(PingAddress(numeric: "127.0.0.2", port: 9))
    new = try #require(PingAddress(numeric: "127.0.0.3", port: 9))
  }

  deinit { pinger.shutdown() }

  private func pings(to host: String, capture: RunningCapture? = nil) throws -> ServerPings {
    let (lookUps, lines) = (lookUps, lines)
    let logger = Logger(label: "test") { _ in NotingLogHandler(lines: lines) }
    var pings = ServerPings(pinger: pinger, capture: capture, logger: logger) { host, _ in lookUps.add(host) }
    _ = try pings.begin(PingTarget(address: old, echo: .rtr(token: [])), host: host, at: 0)
    return pings
  }

  @Test("when the server was silent for 30 s, then its name is resolved, and the pings go where it is now")
  func moves() throws {
    var pings = try pings(to: "server.example")
    for moment in 1...31 as ClosedRange<UInt64> { pings.tick(isPaused: false, at: moment * second) }
    #expect(lookUps.all == ["server.example"])
    pings.take([new], for: "server.example", at: 32 * second)
    #expect(lines.all == ["server.example was silent at 127.0.0.2:9 and is at 127.0.0.3:9 now; pinging there"])
  }

  @Test("when the server was given by its address, answers, or is not pinged, then no name is resolved")
  func stays() throws {
    var numeric = try pings(to: "127.0.0.2")
    numeric.tick(isPaused: false, at: 31 * second)
    var answering = try pings(to: "server.example")
    answering.take(.sample(.answered(rttNanoseconds: 1), number: 1), at: 29 * second)
    answering.tick(isPaused: false, at: 31 * second)
    var paused = try pings(to: "server.example")
    paused.tick(isPaused: true, at: 29 * second)
    paused.tick(isPaused: false, at: 31 * second)
    #expect(lookUps.all.isEmpty)
  }

  @Test("when the answer is about the server of an earlier test, or there is none, then the pings stay where they are")
  func staleAnswers() throws {
    var pings = try pings(to: "server.example")
    pings.tick(isPaused: false, at: 31 * second)
    pings.take([new], for: "other.example", at: 32 * second)
    pings.take([], for: "server.example", at: 32 * second)
    #expect(lines.all.isEmpty)
  }

  @Test(
    "when there is a capture, then it has the server's packets, at its old address and at its new one",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func capture() async throws {
    let folder = try TemporaryFolder()
    let settings = CaptureSettings(path: folder.file("drive"))
    var pings = try pings(to: "server.example", capture: try RunningCapture(settings))
    var verdicts = 0
    for await event in pinger.events where event.outcome != nil {
      verdicts += 1
      if verdicts == 1 {
        pings.tick(isPaused: false, at: 31 * second)
        pings.take([new], for: "server.example", at: 32 * second)
      }
      if verdicts == 5 { break }
    }
    let closed = pings.close()
    let summary = try #require(closed)
    #expect(summary.troubles == 0)
    let trips = RoundTrips(try CaptureFile(path: summary.name(1)).packets).trips
    #expect(Set(trips.map(\.key.remote.description)) == ["127.0.0.2", "127.0.0.3"])
  }
}

/// What was said, from any thread.
private final class Notes: @unchecked Sendable {
  private let lock = NSLock()
  private var notes: [String] = []

  var all: [String] { lock.withLock { notes } }
  func add(_ note: String) { lock.withLock { notes.append(note) } }
}

private struct NotingLogHandler: LogHandler {
  let lines: Notes
  var logLevel = Logger.Level.info
  var metadata = Logger.Metadata()
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.add("\(event.message)") }
}
