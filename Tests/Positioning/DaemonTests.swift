import Coverage
import Foundation
import Logging
import TestSupport
import Testing

@testable import Positioning

/// The client against Debian's gpsd, which reads a recorded receiver from a TCP source (docs/protocol.md, 4.6).
@Suite(
  .enabled(if: Sky.gpsdProgram != nil, "needs gpsd (apt-get install gpsd)"),
  .timeLimit(.minutes(5)))
struct DaemonTests {
  /// The recording's last whole second, 2017-01-10 00:10:52 UTC.
  private static let lastTime = WallTime(microseconds: 1_484_007_052_000_000)

  @Test func whenARealGPSDReadsARecordedReceiver_thenTheFixesAreThoseOfTheRecording() async throws {
    let sky = try await Sky("ublox-8.log", pace: ["--rate", "20000"])
    var timings = Timings()
    timings.firstRetry = .milliseconds(20)
    let logger = Logger.quiet
    // A long timeout, for a busy machine.
    let client = GPSD(
      configuration: .init(port: Int(sky.port), staleAfter: .seconds(30)), timings: timings, logger: logger)
    let (events, mailbox) = AsyncStream.makeStream(of: PositioningEvent.self)
    let task = Task {
      await client.run { mailbox.yield($0) }
      mailbox.finish()
    }
    var (fixes, release, counters) = ([PositionedFix](), String?.none, PositioningCounters())
    for await event in events {
      switch event {
      case .status(.connected(let reported)): release = reported
      case .fix(let fix): fixes.append(fix)
      case .counters(let last): counters = last
      default: break
      }
      if fixes.last?.report?.time == Self.lastTime { task.cancel() }
    }
    try await sky.kill()
    #expect(release?.hasPrefix("3.") == true)
    // A busy machine reads several of the recording's seconds at once; then only the last of them counts.
    #expect(fixes.count + counters[.overtaken] == 72)
    #expect(fixes.count > 7)
    #expect(Set(fixes.compactMap(\.report?.time)).count == fixes.count)
    for coordinate in fixes.map(\.fix.coordinate) {
      let coordinate = try #require(coordinate)
      #expect((44.068897833...44.0690135).contains(coordinate.latitude))
      #expect((-121.314349833 ... -121.3142705).contains(coordinate.longitude))
    }
    // The recording is NMEA: eph is 19.0 times HDOP, and so is worth as much as HDOP.
    #expect(Set(fixes.map(\.driver)) == ["NMEA0183"])
    let judged = fixes.dropFirst(5)
    #expect(judged.allSatisfy { $0.accuracyRule == .ephFromHDOP && (4.5...5.5).contains($0.fix.accuracy ?? 0) })
    #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $0.arrival <= $1.arrival && $0.delivered <= $1.delivered })
  }
}
