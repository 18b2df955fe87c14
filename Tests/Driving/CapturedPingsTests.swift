import Foundation
import Logging
import Pinging
import TestSupport
import Testing

@testable import Driving

/// A drive's capture follows its pings.
final class CapturedPingsTests {
  private let pinger: Pinger

  init() throws { pinger = try Pinger() }

  deinit { pinger.shutdown() }

  @Test(
    "when the pings go to another address, then the capture has the packets of both",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func redirected() async throws {
    let folder = try TemporaryFolder()
    let capture = try RunningCapture(CaptureSettings(path: folder.file("drive")))
    var pings = CapturedPings(pinger, capture: capture, logger: Logger(label: "test"))
    let target = try pings.begin(PingTarget(address: try .sample(2), echo: .rtr(token: [])))
    var verdicts = 0
    for await event in pinger.events where event.outcome != nil {
      verdicts += 1
      pings.follow()
      if verdicts == 1 { pings.redirect(target, to: try .sample(3)) }
      if verdicts == 5 { break }
    }
    #expect(!pings.isCaptureInTrouble)
    let closed = pings.close()
    let summary = try #require(closed)
    #expect(summary.troubles == 0)
    let trips = RoundTrips(try CaptureFile([UInt8](Data(contentsOf: URL(fileURLWithPath: summary.name(1))))).packets)
      .trips
    #expect(Set(trips.map(\.key.remote.description)) == ["127.0.0.2", "127.0.0.3"])
  }

  @Test("when the host refuses a target, then the error names the reason, and there is no capture to close")
  func refused() throws {
    var pings = CapturedPings(pinger, capture: nil, logger: Logger(label: "test"))
    var target = PingTarget(address: try .sample(2), echo: .rtr(token: []))
    target.interface = "nonexistent0"
    #expect(throws: PingerError.self) { try pings.begin(target) }
    #expect(pings.close() == nil && !pings.isCaptureInTrouble)
  }
}
