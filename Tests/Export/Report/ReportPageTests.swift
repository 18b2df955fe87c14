import Coverage
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

@Suite struct ReportPageTests {
  static func report(
    title: String = "Drive", compared: Bool = false, equipment: ModemEquipment? = nil
  ) -> Report {
    var figures = ReportFigures()
    for index in 0..<20 {
      figures.add(
        .of(
          .sample(
            number: index, entered: Double(index) * 4, latitude: 48 + Double(index) * 0.0005,
            answered: index == 3 ? 0 : 39,
            rttSumNanoseconds: index == 3 ? 0 : 1_235_130_000), equipment: equipment))
    }
    figures.endFences()
    let part = Report.Part(title: title, figures: figures)
    return Report(parts: compared ? [part, part] : [part], comparison: compared ? PlaceComparison() : nil)
  }

  @Test("Text from outside is escaped")
  func escaping() {
    let page = ReportPage(Self.report(title: "link <script>\"&")).html
    #expect(page.contains("link &lt;script&gt;&quot;&amp;"))
    #expect(!page.contains("<script"))
  }

  @Test("when the modem is known, then page and JSON name it once")
  func equipment() {
    let report = Self.report(equipment: .sample)
    #expect(ReportPage(report).html.ranges(of: "measured with Maker M &lt;1&gt;, firmware R1.2; SIM A1").count == 1)
    #expect(report.json.text.ranges(of: #""firmware":"R1.2""#).count == 1)
    #expect(!ReportPage(Self.report()).html.contains("measured with"))
  }

  @Test("when there are several modems, then the page names the sessions that each measured")
  func severalModems() {
    var (figures, other) = (ReportFigures(), ModemEquipment.sample)
    other.firmware = "R2"
    for session in 1...4 {
      let equipment = session == 3 ? other : .sample
      for number in 0..<2 {
        figures.add(.of(.sample(number: session * 2 + number), session: Int64(session), equipment: equipment))
      }
    }
    let page = ReportPage(Report(parts: [.init(title: "A", figures: figures)], comparison: nil)).html
    #expect(page.contains("ipv4v6 (sessions 1 to 2, 4)<br>and Maker") && page.contains("ipv4v6 (session 3)</p>"))
  }

  @Test(
    "when a table by link is long, then the page has so many rows that the report fits on paper, and counts the others",
    arguments: [(1, 60, 40), (2, 40, 160)])
  func longTables(parts: Int, rows: Int, more: Int) {
    var figures = ReportFigures()
    for link in 1...100 {
      figures.add(
        .of(
          .sample(number: link), drive: Int64(link), link: "L\(link)",
          started: .sampleStart.later(by: .milliseconds(link))))
    }
    let part = Report.Part(title: "A", figures: figures)
    let report = Report(
      parts: [Report.Part](repeating: part, count: parts), comparison: parts > 1 ? PlaceComparison() : nil)
    let page = ReportPage(report).html
    #expect(
      page.ranges(of: "<th scope=\"row\">L").count == rows && page.contains("<p>\(more) more rows: JSON has them.</p>"))
    #expect(page.ranges(of: "drives: 1, links: 100, drive logs: 0").count == parts, "links of one drive")
    #expect(report.json.text.ranges(of: #""drives":1,"links":100"#).count == parts)
  }

  @Test("The page loads nothing and runs nothing")
  func nothingElsewhere() {
    let page = ReportPage(Self.report(compared: true)).html
    for forbidden in ["<script", "http:", "https:", "src=", "<link", "@import", "url(", "onclick", "SQL("] {
      #expect(!page.contains(forbidden), "\(forbidden)")
    }
    #expect(page.contains("default-src 'none'"))
  }

  @Test("Each footnote and the reference to it are on the page")
  func footnotes() {
    let page = ReportPage(Self.report(compared: true)).html
    #expect(page.matches(of: /<li id="n(\d+)">/).map { Int($0.1) } == Array(1...12), "no number is missing")
    for number in 1...12 {
      #expect(page.contains("href=\"#n\(number)\""))
    }
  }

  @Test("when drives of different lengths are compared, then the charts of their distance have the same scale")
  func sameScale() {
    let parts = [20, 400].map { count in
      var figures = ReportFigures()
      for number in 0..<count {
        figures.add(.of(.sample(number: number, entered: Double(number) * 4, latitude: 48 + Double(number) * 0.0005)))
      }
      return Report.Part(title: "\(count)", figures: figures)
    }
    let page = ReportPage(Report(parts: parts, comparison: PlaceComparison())).html
    #expect(page.matches(of: /distance, in pieces of (\d+) m/).map(\.1) == ["200", "200"])
    let charts = page.matches(of: /aria-label="Delay and loss over the distance">[\s\S]*?<\/svg>/).map(\.output)
    let ticks = charts.map { $0.matches(of: /text-anchor="middle">([0-9.]+)</).map { String($0.1) } }
    #expect(ticks.count == 2 && ticks[0] == ticks[1], "\(ticks)")
  }

  @Test("Maps have a text alternative")
  func maps() {
    #expect(ReportPage(Self.report()).html.contains("1 of them without an answer."))
  }

  @Test("Without fences, there is still a page, and JSON omits the figures without a value")
  func empty() {
    let report = Report(parts: [.init(title: "nothing", figures: ReportFigures())], comparison: nil)
    #expect(ReportPage(report).html.contains("–"))
    #expect(!report.json.text.contains("mean_ms"))
    #expect(!report.json.text.contains("null"))
  }

  @Test("JSON has the method of each figure")
  func methods() {
    let text = Self.report(compared: true).json.text
    for part in ["coverage", "delay", "variation", "loss", "outages", "worst", "quality", "comparison"] {
      #expect(text.contains("\"\(part)\":{"), "\(part)")
    }
    #expect(text.components(of: "\"method\":") == 17)
    #expect(text.contains("\"mean_ms\":31.67"))
  }
}

extension String {
  /// The number of occurrences of `piece`.
  fileprivate func components(of piece: String) -> Int { ranges(of: piece).count }
}
