import Coverage
import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import Export

/// The members of `report --json`, and the cells of the page, for figures that can be computed by hand.
@Suite struct ReportJSONTests {
  /// Five fences of 4 s, 111.2 m apart: two with 4G (30 ms and 50 ms), one silent, one of 5G with half of its pings, one after a gap.
  private static func figures() -> ReportFigures {
    var figures = ReportFigures()
    let rows: [(entered: Double, technology: String?, pings: Int, answered: Int, milliseconds: Int64)] = [
      (10, "4G/LTE", 10, 10, 30), (14, "4G/LTE", 10, 10, 50), (18, "4G/LTE", 10, 0, 0), (22, "5G/NR", 10, 5, 20),
      (30, nil, 10, 10, 40),
    ]
    for (index, row) in rows.enumerated() {
      figures.add(
        .of(
          .sample(
            number: index, entered: row.entered, latitude: 48 + Double(index) * 0.001, radius: 30,
            technology: row.technology,
            pings: row.pings, answered: row.answered,
            rttSumNanoseconds: Int64(row.answered) * row.milliseconds * 1_000_000)
        ))
    }
    figures.endFences()
    return figures
  }

  private static func object(_ report: Report) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(report.json.text.utf8)) as? [String: Any])
  }

  private static func part(_ figures: ReportFigures = figures()) throws -> [String: Any] {
    let report = try object(Report(parts: [.init(title: "A", figures: figures)], comparison: nil))
    return try #require((report["parts"] as? [[String: Any]])?.first)
  }

  private func number(_ object: Any?, _ path: String...) -> Double? {
    var value = object
    for key in path { value = (value as? [String: Any])?[key] }
    return (value as? NSNumber)?.doubleValue
  }

  @Test("when a drive has 4G, 5G, a silent fence and an unknown one, then each has its share of time and pings")
  func coverage() throws {
    let part = try Self.part()
    let coverage = try #require(part["coverage"] as? [String: Any])
    let rows = try #require(coverage["by_technology"] as? [[String: Any]])
    #expect(rows.compactMap { $0["name"] as? String } == ["4G", "5G SA", "unknown technology", "no answer"])
    #expect(rows.map { number($0, "time_percent") } == [40, 20, 20, 20])
    #expect(rows.map { number($0, "pings_percent") } == [40, 20, 20, 20])
    #expect(rows.map { number($0, "way_m") } == [222.4, 111.2, 0, 111.2])
    #expect(rows.map { number($0, "way_percent") } == [50, 25, 0, 25])
    #expect(number(coverage, "measured", "way_m") == 444.8 && number(coverage, "total", "way_percent") == nil)
    #expect(number(coverage, "covered", "fences") == 4 && number(coverage, "covered", "pings_ok") == 35)
    #expect(number(coverage, "total", "time_s") == 20)
  }

  @Test("when a silent fence is on 4G, then its pings are failed ones of 4G, and its distance is without an answer")
  func groups() throws {
    let groups = try #require(try Self.part()["groups"] as? [String: Any])
    let rows = try #require(groups["by_technology"] as? [[String: Any]])
    #expect(rows.compactMap { $0["name"] as? String } == ["4G", "5G SA", "unknown technology"])
    #expect(rows.map { number($0, "pings") } == [30, 10, 10] && rows.map { number($0, "failed") } == [10, 5, 0])
    #expect(rows.map { number($0, "failed_percent") } == [33.33, 50, 0])
    #expect(rows.map { number($0, "measured_m") } == [333.6, 111.2, 0])
    #expect(rows.map { number($0, "silent_percent") } == [33.33, 0, nil] && number(rows[0], "mean_ms") == 40)
    #expect(groups["by_area"] == nil && (groups["by_link"] as? [Any])?.count == 1)
    let way = try #require((try Self.part()["way"] as? [[String: Any]])?.first)
    #expect(number(way, "distance_m") == 444.8 && (way["pieces"] as? [Any])?.count == 9)
  }

  @Test("when pings were lost, then loss, mean and outages are those of the drive")
  func figures() throws {
    let part = try Self.part()
    #expect(number(part, "loss", "pings") == 50 && number(part, "loss", "lost") == 15)
    #expect(number(part, "loss", "percent") == 30)
    // (300 + 500 + 100 + 400) ms over 35 answers.
    #expect(number(part, "delay", "mean_ms") == 37.143)
    #expect((part["outages"] as? [String: Any])?["at_least"] as? Bool == true, "there is no log")
    #expect(number(part, "outages", "count") == 1 && number(part, "outages", "longest", "time_s") == 4)
    #expect(number(part, "outages", "longest", "latitude") == 48.002)
    #expect(number(part, "quality", "gaps") == 1 && number(part, "quality", "gap_s") == 4)
    #expect(number(part, "loss", "longest_run") == nil, "single pings are in the log only")
  }

  @Test("when a drive has a log, then single pings, stamps and positions are members; without it, they are absent")
  func log() throws {
    var figures = Self.figures()
    #expect((try Self.part(figures)["quality"] as? [String: Any])?["logs"] == nil)
    let place = try #require(Coordinate(latitude: 48, longitude: 16))
    try figures.addLog(of: 1, parameters: Parameters(), initialPath: .cellular) { body in
      try body(Event(at: .seconds(10.5), .fix(Fix(coordinate: place, accuracy: 5))))
      for tenth in 0..<20 {
        try body(
          Event(
            at: .seconds(11 + Double(tenth) / 10),
            .ping(.answered(rttNanoseconds: Int64(tenth + 1) * 1_000_000, isKernelStamped: tenth < 15))))
      }
      try body(Event(at: .seconds(13.5), .clockSet(by: .milliseconds(1500))))
    }
    let part = try Self.part(figures)
    #expect((part["delay"] as? [String: Any])?["population"] as? String == "single pings")
    #expect(number(part, "delay", "count") == 20)
    let median = try #require(((part["delay"] as? [String: Any])?["percentiles"] as? [[String: Any]])?.first)
    #expect(number(median, "ms") == 10 && number(median, "lower_ms") == nil, "delays that only rise are one sample")
    #expect(number(part, "variation", "pairs") == 19)
    #expect(number(part, "quality", "logs", "kernel_stamped_percent") == 75)
    #expect(number(part, "quality", "logs", "clock_steps_s") == 1.5)
    #expect(number(part, "logs") == 1 && number(part, "loss", "longest_run") == 0)
  }

  /// 200 places; the second side is slower by about `milliseconds` and loses some pings.
  private static func places(slower milliseconds: Int64) -> PlaceComparison {
    var (comparison, random) = (PlaceComparison(grid: PlaceGrid(metres: 100)), SeededGenerator(seed: 7))
    for index in 0..<200 {
      let latitude = 48 + Double(index) * 0.002
      let extra = milliseconds * 1_000_000 + Int64.random(in: -900_000...900_000, using: &random)
      comparison.add(.sample(latitude: latitude, pings: 10, answered: 10, rttSumNanoseconds: 300_000_000), to: .first)
      let answered = Int.random(in: 6...10, using: &random)
      comparison.add(
        .sample(
          latitude: latitude, pings: 10, answered: answered, rttSumNanoseconds: Int64(answered) * (30_000_000 + extra)),
        to: .second)
    }
    return comparison
  }

  @Test(
    "when two drives are compared, then the places, means and losses of both are members, and the page has the verdict"
  )
  func comparison() throws {
    let part = Report.Part(title: "A & B", figures: Self.figures())
    let report = Report(parts: [part, part], comparison: Self.places(slower: 6))
    let object = try #require(Self.object(report)["comparison"] as? [String: Any])
    #expect(number(object, "place_m") == 100 && number(object, "places_matched") == 200)
    #expect(number(object, "mean_first_ms") == 30 && number(object, "loss_first_percent") == 0)
    let findings = try #require(object["findings"] as? [[String: Any]])
    #expect(findings.map { $0["figure"] as? String } == ["delay", "loss", "coverage"])
    #expect(findings.map { $0["verdict"] as? String } == ["different", "different", "not enough samples"])
    let effect = try #require(number(findings[0], "effect"))
    #expect((5.7...6.3).contains(effect) && number(findings[0], "least") == 5)
    #expect(number(findings[0], "p") == nil && number(findings[0], "p_below") == 0.0001, "no probability is 0")
    #expect(number(findings[0], "p_holm_below") == 0.0001 && number(findings[2], "effect") == nil)
    let page = ReportPage(report).html
    #expect(
      page.contains(
        "<strong>Different: delay at the same places (the second is \(Markup.number(effect, 2)) ms higher), loss"))
    #expect(page.contains("Not enough samples: distance with coverage.") && page.contains("<td>&lt; 0.0001</td>"))
    #expect(page.contains("A &amp; B") && !page.contains("A & B"))
  }

  @Test("when a difference is below the least one that matters, then it is too small, however sure it is")
  func least() {
    let part = Report.Part(title: "A", figures: Self.figures())
    let findings = { Report(parts: [part, part], comparison: Self.places(slower: -3), least: $0).findings }
    #expect(findings(LeastDifferences())[0].verdict == .tooSmall)
    #expect(findings(LeastDifferences(delayMilliseconds: 2))[0].verdict == .different)
    let report = Report(parts: [part, part], comparison: Self.places(slower: -3), least: .init(delayMilliseconds: 2))
    #expect(ReportPage(report).html.contains("ms lower)"))
  }

  @Test("when too few places match, then the page says that the samples are not enough")
  func fewPlaces() {
    var comparison = PlaceComparison()
    comparison.add(.sample(), to: .first)
    comparison.add(.sample(rttSumNanoseconds: 9), to: .second)
    let part = Report.Part(title: "A", figures: Self.figures())
    let page = ReportPage(Report(parts: [part, part], comparison: comparison)).html
    #expect(
      page.contains("Not enough samples: delay at the same places, loss at the same places, distance with coverage."))
  }

  @Test("when two selections have no common place, then the page says so")
  func noCommonPlace() {
    var comparison = PlaceComparison()
    comparison.add(.sample(), to: .first)
    let part = Report.Part(title: "A", figures: Self.figures())
    let page = ReportPage(Report(parts: [part, part], comparison: comparison)).html
    #expect(page.contains("No common place: delay at the same places, loss at the same places."))
    #expect(page.contains("<td>no common place</td>"))
  }

  @Test("when the page is written, then its cells have the figures of the drive")
  func page() {
    let page = ReportPage(Report(parts: [.init(title: "A", figures: Self.figures())], comparison: nil)).html
    for cells in [
      "<th scope=\"row\">4G</th><td>0.22</td><td>50.00 %</td><td>8 s</td><td>40.00 %</td><td>20</td><td>40.00 %</td>",
      "<th scope=\"row\">with coverage</th><td>0.33</td><td>75.00 %<br><span class=\"soft\">not enough samples</span></td>"
        + "<td>16 s</td><td>80.00 %</td><td>40</td>",
      "<th scope=\"row\">mean</th><td>37.1</td>",
      "</sup></th><td>30.00 %<br><span class=\"soft\">not enough samples</span></td>",
      "<th scope=\"row\">outages of 1 s or more</th><td>at least 1</td>",
      "<th scope=\"row\">gaps between fences</th><td>1, 4 s together</td>",
      "<th scope=\"row\">longest run of lost pings</th><td>–</td>",
      "<dt>loss</dt><dd>30.00 %<br>", "<dt>measured distance with coverage</dt><dd>75.00 %<br>",
    ] {
      #expect(page.contains(cells), "\(cells)")
    }
  }

  @Test("when every number is the largest, as in a damaged store, then page and JSON are still written")
  func largest() throws {
    var figures = ReportFigures()
    for number in 0..<3 {
      figures.add(
        .of(
          .sample(
            number: number, entered: 10 + Double(number) * 4, pings: .max, answered: .max, rttSumNanoseconds: .max)))
    }
    figures.endFences()
    let report = Report(parts: [.init(title: "A", figures: figures)], comparison: nil)
    #expect(try Self.object(report)["report"] as? Int == 2)
    #expect(ReportPage(report).html.contains("</html>"))
  }
}
