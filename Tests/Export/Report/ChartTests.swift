import Coverage
import Foundation
import OrderedJSON
import Store
import TestSupport
import Testing

@testable import Export

/// The drawings of a report.
@Suite struct ChartTests {
  @Test("when an axis begins at 0, then it has a few round ticks, the last one not below the greatest value")
  func linear() {
    for high in [0.3, 1, 7, 33.3, 100, 1234.5, 987_654] {
      let axis = ChartAxis.linear("x", to: high)
      #expect((2...11).contains(axis.ticks.count) && axis.high >= high && axis.high <= high * 2)
      #expect(abs((axis.ticks.last ?? 0) - axis.high) < 1e-9 * axis.high)
    }
    for high in [0, -1, .nan, .infinity] {
      #expect(ChartAxis.linear("x", to: high).ticks.allSatisfy { $0.isFinite })
    }
  }

  @Test(
    "when an axis is logarithmic, then its ticks are 1, 2 and 5 times powers of ten, and values beyond it are at its ends"
  )
  func logarithmic() {
    let axis = ChartAxis.logarithmic("ms", from: 8, to: 300)
    #expect(axis.ticks == [10, 20, 50, 100, 200])
    #expect(axis.position(8) == 0 && axis.position(300) == 1 && axis.position(1) == 0 && axis.position(1e9) == 1)
    #expect(abs(axis.position((8 * 300.0).squareRoot()) - 0.5) < 1e-9)
    #expect(ChartAxis.logarithmic("ms", from: 0, to: 0).high > 0)
    #expect(ChartAxis.logarithmic("ms", from: 24, to: 26).ticks == [20, 50], "a narrow range is widened to two ticks")
  }

  @Test("when the step of an axis is less than 1, then its labels have the decimals of the step")
  func labels() {
    let fine = ChartAxis.linear("x", to: 0.2)
    #expect(fine.ticks.map(fine.text) == ["0.00", "0.05", "0.10", "0.15", "0.20"])
    let coarse = ChartAxis.linear("x", to: 100)
    #expect(coarse.ticks.map(coarse.text) == ["0", "20", "40", "60", "80", "100"])
    let ratios = ChartAxis.logarithmic("x", from: 0.05, to: 2)
    #expect(ratios.ticks.map(ratios.text) == ["0.05", "0.1", "0.2", "0.5", "1", "2"])
  }

  @Test("when a line has a gap, then the path is broken there, and nothing leaves the frame")
  func line() throws {
    var chart = Chart("T <x>", description: "D", x: .linear("km", to: 10), y: .linear("ms", to: 100))
    chart.line([(0, 0), (5, 100), nil, (10, 1e9)], look: "delay")
    let path = try #require(chart.svg.firstMatch(of: /<path class="line delay" d="([^"]*)"/)).1
    #expect(path == "M38.0 166.0h.1L215.0 8.0M392.0 8.0h.1")
    #expect(chart.svg.contains("<title>T &lt;x&gt;</title><desc>D</desc>") && chart.svg.contains("role=\"img\""))
  }

  private static func part(_ title: String = "Drive", link: String? = nil, provenance: ExportProvenance? = nil) throws
    -> Report.Part
  {
    var figures = ReportFigures()
    var radio = FenceRadio()
    radio.levels = [.init(quantity: .rsrp, minimum: -100, median: -90, maximum: -80)]
    (radio.operatorCode, radio.operatorName) = ("23201", "A <Net>")
    for index in 0..<30 {
      var ping = PingFigures()
      ping.delays = try #require(DelayBins("200=20 300=19"))
      figures.add(
        .of(
          .sample(
            number: index, entered: Double(index) * 4, latitude: 48 + Double(index) * 0.0005,
            answered: index == 3 ? 0 : 39, rttSumNanoseconds: index == 3 ? 0 : 1_235_130_000, figures: ping,
            radio: radio), link: link))
    }
    figures.endFences()
    return Report.Part(title: title, figures: figures, provenance: provenance)
  }

  @Test(
    "when a report has fences with bins and signal, then it has a map, a distribution, the signal and the distance, all with texts"
  )
  func section() throws {
    let html = ChartSection(report: Report(parts: [try Self.part()], comparison: nil), ground: nil).html
    for label in [
      "Overview map of", "Distribution of the delay by technology", "Signal by technology",
      "Delay and loss over the distance",
    ] {
      #expect(html.contains("aria-label=\"\(label)"), "\(label)")
    }
    #expect(html.contains("1 of them without an answer") && html.contains("class=\"silent\""))
    #expect(!html.contains("nan") && !html.contains("inf\""))
    #expect(
      ChartSection(
        report: Report(parts: [.init(title: "nothing", figures: ReportFigures())], comparison: nil), ground: nil
      ).html.isEmpty)
  }

  @Test("when the link has a hostile name, then neither chart nor table has its markup")
  func hostile() throws {
    let report = Report(parts: [try Self.part(link: "<b onload=\"x\">")], comparison: nil)
    let html = ReportPage(report).html
    #expect(!html.contains("<b onload") && html.contains("&lt;b onload"))
    #expect(html.contains("A &lt;Net&gt; (23201)"))
  }

  @Test("when the parts of a comparison differ in a fact, then it has a line for each part, and no sum of both")
  func factsOfParts() throws {
    let report = Report(
      parts: [try Self.part("A"), .init(title: "B", figures: ReportFigures())],
      comparison: PlaceComparison(grid: PlaceGrid(metres: 50)))
    #expect(OriginSection(report: report).facts.contains("<dt>operator</dt><dd>A: A &lt;Net&gt; (23201)<br>B: –</dd>"))
    let same = Report(parts: [try Self.part("A"), try Self.part("B")], comparison: nil)
    #expect(OriginSection(report: same).facts.contains("<dt>operator</dt><dd>A &lt;Net&gt; (23201)</dd>"))
  }

  @Test("when there are more links than charts, then the page and JSON say how many more")
  func manyLinks() throws {
    var figures = ReportFigures()
    for link in 0..<11 {
      for index in 0..<3 {
        figures.add(
          .of(
            .sample(number: index, entered: Double(index) * 4, latitude: 48 + Double(index) * 0.0005), link: "L\(link)")
        )
      }
    }
    figures.endFences()
    let report = Report(parts: [.init(title: "T", figures: figures)], comparison: nil)
    #expect(ChartSection(report: report, ground: nil).html.contains("7 more links: JSON has"))
    #expect(report.json.text.contains("\"way_more_links\":3"))
  }

  @Test("when author and time are known, then page and JSON have them; what is not known is left out")
  func origin() throws {
    let part = try Self.part(
      provenance: ExportProvenance(
        content: "report", exported: .sampleStart, store: StoreIdentity(uuid: "S-1", lastFence: 30), state: "all",
        sessions: [], filter: FenceFilter(),
        configuration: .object([
          "pings.interval": .decimal(units: 1, places: 1), "location.minimum-radius": .number(15),
          "location.speed-limit": .null,
        ]),
        drives: []))
    let report = Report(
      parts: [part], comparison: nil, origin: .init(made: .sampleStart, author: "A, <Office>", server: "host.example"))
    let html = ReportPage(report).html
    #expect(html.contains("2026-11-20 10:00:00 UTC by A, &lt;Office&gt;, coverage-probe"))
    #expect(
      html.contains("host.example") && html.contains("S-1")
        && html.contains("as set now: pings.interval 0.1 s, location.minimum-radius 15 m, location.speed-limit none<"))
    #expect(!html.contains("receiver") && !html.contains("<dt>SIM of"))
    #expect(report.json.text.contains("\"made_by\":\"A, <Office>\"") || report.json.text.contains("\"made_by\":\"A, "))
    #expect(report.json.text.contains("\"store_id\":\"S-1\""))
  }
}
