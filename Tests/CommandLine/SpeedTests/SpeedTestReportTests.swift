import Coverage
import Foundation
import Testing

@testable import Service
@testable import SpeedTest
@testable import coverage_probe

@Suite struct SpeedTestReportTests {
  private func report(
    _ controlled: SpeedTestReport.Controlled? = nil, _ change: (inout SpeedTestOutcome) -> Void
  ) throws -> SpeedTestReport {
    var outcome = SpeedTestOutcome()
    outcome.serverVersion = "1.3.5"
    change(&outcome)
    let plan = SpeedTestPlan(host: "host", port: 1, token: try MeasurementToken("t"))
    return SpeedTestReport(
      figures: outcome.figures(plan), threads: plan.threads, failures: outcome.failures.map { "a connection: \($0)" },
      controlled: controlled)
  }

  /// The points of a phase without an interruption: one a second.
  private func curve(_ bytes: Int64) -> [Sample] {
    (1...7).map { Sample(nanoseconds: $0 * 1_000_000_000, bytes: bytes * $0 / 7) }
  }

  private func whole(_ outcome: inout SpeedTestOutcome) {
    outcome.downloadCurves = [curve(119_000_000)]
    outcome.uploadCurves = [curve(7_000_000)]
    for value: Int64 in [20_000_000, 30_000_000, 40_000_000] {
      outcome.pings.append(.init(client: value + 500_000, server: value, offset: 5))
    }
  }

  @Test("When a test is whole, then the summary has its three figures, and says that it was not sent")
  func summary() throws {
    #expect(
      try report(nil, whole).lines == [
        "server    host:1, RMBT 1.3.5, plain TCP, 1 of 3 connections",
        "ping      30.000 ms median, 20.000 ms shortest by the server's clock, 3 pings",
        "download  136.00 Mbit/s (119.0 MB in 7.00 s)",
        "upload    8.00 Mbit/s (7.0 MB in 7.00 s)",
        "not stored, and not sent to a control server: no control server made the test",
      ])
  }

  @Test(
    "When a control server made the test, then the last line says where the result is",
    arguments: [
      (true, "the control server has it"), (false, "stored; coverage-probe submit sends it later"),
      (nil, "stored, not sent"),
    ] as [(Bool?, String)])
  func controlled(isSubmitted: Bool?, words: String) throws {
    let report = try report(.init(id: 7, testUUID: "T", isSubmitted: isSubmitted), whole)
    #expect(report.lines.last == "speed test 7 (T): \(words)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
    #expect(object["id"] as? Int == 7 && object["test_uuid"] as? String == "T")
    #expect(object["submitted"] as? Bool == (isSubmitted == true))
  }

  @Test("When the path died within a phase, then a line has its share, the silence and the rate over the whole phase")
  func interrupted() throws {
    let report = try report(nil) {
      whole(&$0)
      $0.downloadCurves = [
        [
          Sample(nanoseconds: 1_000_000_000, bytes: 1_000_000_000),
          Sample(nanoseconds: 2_180_000_000, bytes: 2_180_000_000),
        ]
      ]
    }
    #expect(
      report.lines.contains(
        "          interrupted: 31 % of 7 s measured, 4.8 s without a byte; 2.491 Gbit/s over the whole phase"))
    #expect(report.lines.contains("download  8.000 Gbit/s (2180.0 MB in 2.18 s)"), "the rate of the wire stays")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
    #expect(object["interrupted"] as? Bool == true && object["complete"] as? Bool == true)
    #expect(object["download_measured_percent"] as? Double == 31.1 && object["download_silence_ms"] as? Double == 4820)
    #expect(object["upload_measured_percent"] as? Double == 100 && object["upload_silence_ms"] as? Double == 1000)
  }

  @Test("When a link is known, then a line names it, and says that it is no mobile network or has changed")
  func links() throws {
    var report = try report(nil, whole)
    report.figures.links = [SpeedTestLink(kind: .cellular, interface: "wwan0")]
    #expect(report.lines[1] == "link      wwan0, mobile network")
    report.figures.links?.append(SpeedTestLink(kind: .wifi, interface: "wlan0", since: 3_200_000_000))
    #expect(
      report.lines[1]
        == "link      wwan0, mobile network; wlan0, Wi-Fi after 3 s: no figures of a mobile network; the link changed within the test"
    )
    let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
    #expect(object["link"] as? String == "mixed" && object["link_changed"] as? Bool == true)
    #expect(object["link_interface"] as? String == "wwan0, wlan0")
  }

  @Test("When phases failed, then they have no figures, and the report has the reasons")
  func failed() throws {
    let lines = try report { $0.failures = [.closed] }.lines
    #expect(lines.filter { $0.hasSuffix("none") }.count == 3)
    #expect(lines.contains("failed    a connection: the server closed the connection"))
  }

  @Test("When a test is whole, then JSON has the control server's names, units and all points (edge 36: complete)")
  func json() throws {
    let text = try report(nil, whole).json.text
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(object["test_speed_download"] as? Int == 136_000)
    #expect(object["test_nsec_upload"] as? Int == 7_000_000_000)
    #expect(object["test_bytes_upload"] as? Int == 7_000_000)
    #expect(object["test_ping_shortest"] as? Int == 20_500_000)
    #expect(object["complete"] as? Bool == true)
    #expect(object["submitted"] as? Bool == false)
    #expect(
      (object["pings"] as? [[String: Int]])?[1] == ["value": 30_500_000, "value_server": 30_000_000, "time_ns": 5])
    #expect(object["ping_shortest_ns"] as? Int == 20_000_000 && object["interrupted"] as? Bool == false)
    #expect((object["speed_detail"] as? [[String: Any]])?.count == 14)
  }

  @Test("Edge 36: when the upload is missing or 0, then the test is not complete")
  func incomplete() throws {
    for curves in [[], [[]], [[Sample(nanoseconds: 7_000_000_000, bytes: 0)]]] as [[[Sample]]] {
      let report = try report {
        whole(&$0)
        $0.uploadCurves = curves
      }
      #expect(!report.figures.isComplete)
    }
  }

  @Test(
    "When a rate is shown, then its unit fits",
    arguments: [(999, "999 kbit/s"), (47_820, "47.82 Mbit/s"), (9_870_000, "9.870 Gbit/s")] as [(Int64, String)])
  func rates(value: Int64, text: String) { #expect(SpeedTestReport.rate(value) == text) }
}
