import Foundation
import Pinging
import TestSupport
import Testing

@testable import SpeedTest

/// Values between the threads and the result.
@Suite struct OutcomeTests {
  private func outcome(ping: Int64? = 5, down: Int64? = 1000, up: Int64? = 1000) -> SpeedTestOutcome {
    var outcome = SpeedTestOutcome()
    if let ping { outcome.pings.append(.init(client: ping, server: ping, offset: 0)) }
    if let down { outcome.downloadCurves = [[Sample(nanoseconds: 1_000_000, bytes: down)]] }
    if let up { outcome.uploadCurves = [[Sample(nanoseconds: 1_000_000, bytes: up)]] }
    return outcome
  }

  @Test("Edge 36: when ping, download and upload are above 0, then a result is complete")
  func complete() { #expect(outcome().isComplete) }

  @Test(
    "Edge 36: when one of the three is missing or 0, then a result is not complete", arguments: [nil, 0] as [Int64?])
  func incomplete(value: Int64?) {
    #expect(!outcome(ping: value).isComplete)
    #expect(!outcome(down: value).isComplete)
    #expect(!outcome(up: value).isComplete)
  }

  @Test("Edge 29: when a connection breaks after the common end, then its bytes count as those of the others do")
  func breaksLate() {
    var outcome = outcome(down: 1000)
    outcome.brokenDownloads = [[Sample(nanoseconds: 2_000_000, bytes: 600)], []]
    #expect(outcome.download?.bytes == 1300 && outcome.download?.nanoseconds == 1_000_000)
    outcome.downloadCurves = []
    #expect(outcome.download == nil, "without any whole connection there is no common end")
  }

  @Test("When every connection breaks in a phase, then it has their number and no common end, and is interrupted")
  func allBreak() throws {
    var outcome = outcome(up: nil)
    outcome.brokenUploads = [[Sample(nanoseconds: 2_000_000, bytes: 600)], []]
    outcome.noteSilence()
    let figures = outcome.figures(SpeedTestPlan(host: "h", port: 5, token: try MeasurementToken("t")))
    let upload = try #require(figures.upload)
    #expect(upload.connections == 2 && upload.broken == 2 && upload.isInterrupted)
    #expect(upload.curves == [[[2_000_000, 600]], []])
    #expect(outcome.upload == nil && !figures.isComplete && outcome.failures == [])
  }

  @Test("When the connections of a phase last without a byte, then it is silent to its end, and a failure says why")
  func silentPhase() throws {
    var outcome = outcome(down: nil, up: nil)
    (outcome.downloadCurves, outcome.uploadCurves) = ([[]], [[], [Sample(nanoseconds: 5, bytes: 0)]])
    outcome.noteSilence()
    #expect(
      outcome.failures.map { "\($0)" } == [
        "the server sent no byte in the download", "the server reported no received byte in the upload",
      ])
    let figures = outcome.figures(SpeedTestPlan(host: "h", port: 5, token: try MeasurementToken("t")))
    for rate in [figures.download, figures.upload] {
      #expect(rate?.isInterrupted == true && rate?.silence == 7_000_000_000 && rate?.broken == 0)
    }
    #expect(figures.download?.connections == 1 && figures.upload?.connections == 2)
  }

  @Test("When threads report at the same time, then no report is lost")
  func record() {
    let record = RunRecord()
    DispatchQueue.concurrentPerform(iterations: 100) { _ in record.note { $0.failures.append(.closed) } }
    #expect(record.result.failures.count == 100)
  }

  /// Collects reports of a curve.
  private func reports(of times: [Int64]) -> (shown: [SpeedTestProgress], samples: [Sample]) {
    let list = Collected<SpeedTestProgress>()
    var curve = CurveReport(.upload, thread: 7) { list.append($0) }
    for (index, time) in times.enumerated() { curve.append(Sample(nanoseconds: time, bytes: Int64(index + 1))) }
    return (list.all, curve.samples)
  }

  @Test("When a thread has many points, then the display gets one every 100 ms, and the curve has all")
  func curveReport() {
    let times = (1...100).map { Int64($0) * 5_000_000 }
    let (shown, samples) = reports(of: times)
    #expect(shown.compactMap(\.sample?.nanoseconds) == [1, 2, 3, 4, 5].map { $0 * 100_000_000 })
    #expect(shown.allSatisfy { $0.thread == 7 && $0.phase == .upload })
    #expect(samples.map(\.nanoseconds) == times)
  }

  @Test("When points come just below and at 100 ms, then the second is shown")
  func spacing() {
    #expect(reports(of: [99_999_999]).shown.isEmpty)
    let (shown, _) = reports(of: [99_999_999, 100_000_000, 199_999_999, 200_000_000])
    #expect(
      shown.compactMap(\.sample) == [
        Sample(nanoseconds: 100_000_000, bytes: 2), Sample(nanoseconds: 200_000_000, bytes: 4),
      ])
  }

  @Test("When points are a millisecond apart, then all stay; when nearer, the newest replaces the one before")
  func seriesSpacing() {
    var series = SampleSeries()
    for time: Int64 in [1_000_000, 2_000_000, 2_999_999, 3_000_000] {
      series.append(Sample(nanoseconds: time, bytes: time))
    }
    #expect(series.samples.map(\.nanoseconds) == [1_000_000, 2_000_000, 3_000_000])
    var fresh = SampleSeries()
    fresh.append(Sample(nanoseconds: 0, bytes: 10))
    #expect(fresh.samples.isEmpty)
    fresh.append(Sample(nanoseconds: 999_999, bytes: 10))
    fresh.append(Sample(nanoseconds: 1_500_000, bytes: 20))
    #expect(fresh.samples.map(\.bytes) == [20])
  }

  /// Two connections: bytes at 0.1 and 2.0 s, and at 0.2 and 2.18 s; a point without a new byte at 4 s. Silent from 2.18 s to 7 s.
  @Test("When no connection has a byte for a time, then the longest such time counts, up to the ends of the phase")
  func silence() {
    func samples(_ points: (Double, Int64)...) -> [Sample] {
      points.map { Sample(nanoseconds: Int64($0.0 * 1e9), bytes: $0.1) }
    }
    func longest(_ curves: [Sample]...) -> Int64 { SpeedTestOutcome.longestSilence(of: curves, in: 7_000_000_000) }
    #expect(longest(samples((0.1, 1), (2, 2), (4, 2)), samples((0.2, 1), (2.18, 2))) == 4_820_000_000)
    #expect(longest(samples((5, 1), (7.1, 2))) == 5_000_000_000, "before the first byte")
    #expect(longest(samples((1, 1), (6, 2))) == 5_000_000_000)
    #expect(longest() == 7_000_000_000 && longest([]) == 7_000_000_000)
  }

  @Test("When the bytes of points do not grow, then all points stay: the link is stalled")
  func stalledSeries() {
    var series = SampleSeries()
    for time: Int64 in [1_000_000, 5_000_000, 9_000_000] { series.append(Sample(nanoseconds: time, bytes: 3)) }
    #expect(series.samples.count == 3)
  }

  @Test(
    "When an error is shown, then one line describes it",
    arguments: [
      (.unresolved(NameError(name: "h", reason: "r")), "cannot find the address of h: r"),
      (.unreachable("No route"), "no connection: No route"),
      (.closed, "the server closed the connection"), (.timeout("connecting"), "time limit reached: connecting"),
      (.tls("expired"), "TLS failed: expired"),
      (.untrusted("old"), "TLS failed: old; see speedtest.verify-certificate and control-server.ca-file"),
      (.noTLS, "TLS failed: the server does not use TLS on this port"),
      (.upgradeRefused("426"), "the server did not switch to RMBT (426)"),
      (.tokenRefused, "the server refused the token: check it, its age (90 s) and the source address"),
      (.commandRefused("PUT"), "the server refused PUT"), (.protocolError("x"), "the server broke the protocol: x"),
      (.unusableToken, "the token has no bytes, has blanks or control characters, or is longer than 1000 bytes"),
      (.silence("no byte"), "no byte"), (.aborted, "aborted"),
    ] as [(SpeedTestError, String)])
  func errors(error: SpeedTestError, text: String) { #expect("\(error)" == text) }
}
