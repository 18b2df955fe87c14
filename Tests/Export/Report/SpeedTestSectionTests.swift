import Coverage
import Foundation
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

/// Speed tests on the page and in JSON.
@Suite struct SpeedTestSectionTests {
  private static func report(_ parts: [ReportedSpeedTest]..., titles: [String] = ["A", "B"]) -> Report {
    Report(
      parts: zip(titles, parts).map { .init(title: $0, figures: ReportFigures(tests: $1)) },
      comparison: parts.count > 1 ? PlaceComparison() : nil)
  }

  /// Tests with the rates of their numbers in Mbit/s, in a mixed order, because tests whose rates only rise are no independent ones.
  private static func tests(_ ids: ClosedRange<Int64>, delays: KeyValuePairs<SpeedTestDelay.Part, Int64> = [:])
    -> [ReportedSpeedTest]
  {
    ids.map { id in
      let mixed = ids.lowerBound + (id - ids.lowerBound) * 11 % Int64(ids.count)
      return .sample(id, download: mixed * 1000, delays: delays)
    } + [.sample(ids.upperBound + 1000, .failed)]
  }

  private func object(_ report: Report) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
  }

  private func speedTests(_ report: Report) throws -> [String: Any] {
    let part = try #require((try object(report)["parts"] as? [[String: Any]])?.first)
    return try #require(part["speed_tests"] as? [String: Any])
  }

  @Test("when no part has a speed test, then there is no section, no footnote and no member")
  func none() {
    let report = Self.report([], [])
    let page = ReportPage(report).html
    #expect(!page.contains("<h2>Speed tests") && !page.contains("Completed: ping"))
    #expect(!report.json.text.contains("speed_tests"))
  }

  @Test("when there are speed tests, then the page has their figures, and a footnote for each reference")
  func page() {
    let page = ReportPage(Self.report(Self.tests(1...12, delays: [.idle: 20, .upload: 95]))).html
    #expect(page.contains("13 tests, 12 completed (92.31 %), 1 failed, 0 aborted; unsuccessful ratio 7.69 %"))
    for cells in [
      "<th scope=\"row\">download, Mbit/s</th><td>12</td><td>6.00</td><td>–</td><td>2.00</td><td>11.00</td>"
        + "<td>1.00</td><td>12.00</td>",
      "<th scope=\"row\">ping, ms</th><td>12</td><td>30.0</td>",
      "<th scope=\"row\">increase under upload, ms</th><td>12</td><td>75.0</td>",
      "<th scope=\"row\">4G</th><td>13</td><td>12</td><td>7.69 %</td><td>6.00</td><td>19.10</td><td>30.0</td><td>20.0</td>",
    ] { #expect(page.contains(cells), "\(cells)") }
    let note = page.firstMatch(of: /<h2>Speed tests<sup><a href="#(n\d+)"/)?.1 ?? ""
    #expect(page.contains("<li id=\"\(note)\">Completed: ping") && !page.contains("Mann-Whitney"))
    #expect(page.contains(", speed tests: 13</p>"))
    #expect(!page.contains("under download"), "delays that no test has get no row")
  }

  @Test("when Wi-Fi carried tests, then the page and JSON have them apart; without a test on a mobile network too")
  func otherLinks() throws {
    let report = Self.report(Self.tests(1...2) + [.sample(9, technology: nil, download: 900_000, links: [.wifi])])
    let page = ReportPage(report).html
    #expect(
      page.contains(
        "unsuccessful ratio 33.33 %. 1 more on other links (Wi-Fi 1): last rows of the second table only.</p>"))
    #expect(page.contains("<th scope=\"row\">Wi-Fi</th><td>1</td><td>1</td><td>0.00 %</td><td>900.00</td>"))
    let others = try #require(try speedTests(report)["other_links"] as? [[String: Any]])
    #expect(others.count == 1 && others[0]["name"] as? String == "Wi-Fi" && others[0]["completed"] as? Int == 1)
    let alone = ReportPage(Self.report([.sample(9, links: [.wifi])])).html
    #expect(alone.contains("no speed test on a mobile network. 1 on other links"))
  }

  @Test("when there are too few tests, then intervals and percentiles are dashes")
  func few() {
    let page = ReportPage(Self.report(Self.tests(1...2))).html
    #expect(
      page.contains(
        "<th scope=\"row\">download, Mbit/s</th><td>2</td><td>1.00</td><td>–</td><td>–</td><td>–</td><td>1.00</td>"
          + "<td>2.00</td>"))
    let failed = ReportPage(Self.report([.sample(1, .failed)])).html
    #expect(
      failed.contains(
        "<th scope=\"row\">upload, Mbit/s</th><td>0</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–</td>"))
  }

  @Test("when two selections are compared, then both are side by side with the verdict of the rank test")
  func compared() {
    let page = ReportPage(Self.report(Self.tests(1...24), Self.tests(31...54))).html
    #expect(page.contains(": download 100.00 %, upload: no test, ping: no test."))
    #expect(page.contains("<strong>Different: download (the second is 30.00 Mbit/s higher).</strong>"))
    #expect(
      page.contains(
        "<th scope=\"row\">download, Mbit/s</th><td>different</td><td>30.00</td><td>26.00 to 34.00</td><td>&lt; 0.0001</td><td>&lt; 0.0001</td>"
          + "<td>–</td>"))
    #expect(page.contains("<th scope=\"row\">ping of speed tests, ms</th><td>not enough samples</td>"), "all are equal")
    #expect(
      page.contains(
        "<th scope=\"row\">download, Mbit/s</th><td>12.00</td><td>9.00 to 16.00</td><td>3.00, 22.00</td><td>42.00</td>")
    )
    #expect(page.contains("<th scope=\"row\">4G, A</th>") && page.contains("<th scope=\"row\">4G, B</th>"))
    #expect(page.contains(/<li id="n\d+">Mann-Whitney/))
  }

  @Test("when one of two selections has no speed test, or they share some, then the page reports it")
  func notCompared() {
    let alone = ReportPage(Self.report(Self.tests(1...8), [])).html
    #expect(alone.contains("<p>B: no speed test.</p>") && !alone.contains("Pairs of tests"))
    let shared = ReportPage(Self.report(Self.tests(1...8), Self.tests(8...15))).html
    #expect(shared.contains(": 1 of the tests are in both selections."))
    let few = ReportPage(Self.report(Self.tests(1...24), Self.tests(31...49))).html
    #expect(few.contains("download: no test"))
  }

  @Test("when titles are long, then columns are called first and second, and the titles stand above")
  func longTitles() {
    let titles = ["from 2026-11-01T00:00:00.000Z <a>", "B"]
    let page = ReportPage(Self.report(Self.tests(1...8), Self.tests(11...18), titles: titles)).html
    #expect(page.contains("<strong>first: from 2026-11-01T00:00:00.000Z &lt;a&gt;</strong>"))
    #expect(page.contains("<th scope=\"col\">first: median</th>") && page.contains("4G, second</th>"))
  }

  @Test("when there are speed tests, then JSON has each figure with its unit, and the method")
  func json() throws {
    let tests = try speedTests(Self.report(Self.tests(1...12, delays: [.idle: 20, .download: 15])))
    #expect(tests["tests"] as? Int == 13 && tests["completed"] as? Int == 12 && tests["failed"] as? Int == 1)
    #expect(tests["completed_percent"] as? Double == 92.31 && tests["unsuccessful_percent"] as? Double == 7.69)
    let download = try #require(tests["download"] as? [String: Double])
    #expect(
      download == [
        "tests": 12, "median_mbps": 6, "p10_mbps": 2, "p90_mbps": 11, "min_mbps": 1, "max_mbps": 12,
      ])
    let more = try #require(try speedTests(Self.report(Self.tests(1...40)))["download"] as? [String: Double])
    #expect(more["median_mbps"] == 20 && Set(more.keys).isSuperset(of: ["lower_mbps", "upper_mbps", "effective"]))
    #expect((tests["download_increase"] as? [String: Double])?["median_ms"] == -5)
    #expect(tests["upload_delay"] == nil)
    let rows = try #require(tests["by_technology"] as? [[String: Any]])
    #expect(rows.count == 1 && rows[0]["name"] as? String == "4G" && rows[0]["tests"] as? Int == 13)
    #expect((tests["method"] as? String)?.contains("nearest rank") == true)
  }

  @Test("when two selections are compared, then JSON has the possible rank tests")
  func comparedJSON() throws {
    let report = Self.report(Self.tests(1...24), Self.tests(31...54))
    let comparison = try #require(try object(report)["comparison"] as? [String: Any])
    let tests = try #require(comparison["speed_tests"] as? [String: Any])
    let download = try #require(tests["download_test"] as? [String: Any])
    #expect(download["p_below"] as? Double == 0.0001 && download["p"] == nil && tests["ping_test"] == nil)
    let findings = try #require(comparison["findings"] as? [[String: Any]])
    #expect(
      findings.compactMap { $0["figure"] as? String } == ["delay", "loss", "coverage", "download", "upload", "ping"])
    #expect(findings[3]["effect"] as? Double == 30 && findings[3]["lower"] as? Double == 26)
    #expect(findings[3]["upper"] as? Double == 34 && findings[3]["effective"] as? Int == 31)
    #expect(findings[3]["verdict"] as? String == "different" && findings[0]["p"] == nil)
    #expect(download["second_greater_percent"] as? Double == 100)
    #expect(tests["shared"] as? Int == 0 && tests["method"] is String)
  }

  @Test("when figures are the largest numbers, then page and JSON are still written")
  func hostile() throws {
    var figures = SpeedTestFigures.sample(download: .max / 1000)
    figures.pings = [SpeedTestPing(client: .max, server: .max, offset: .max)]
    figures.upload = SpeedTestRate(
      kilobitsPerSecond: .max, bytes: .max, nanoseconds: .max, began: .max, connections: .max, curves: [])
    let tests = (1...5).map {
      ReportedSpeedTest(id: $0, outcome: .completed, technology: Technology("<script>"), figures: figures)
    }
    let report = Self.report(
      tests, tests.map { .init(id: $0.id + 9, outcome: .completed, technology: nil, figures: figures) })
    #expect(try object(report)["report"] as? Int == 2)
    let page = ReportPage(report).html
    #expect(page.contains("</html>") && !page.contains("<script"))
  }
}
