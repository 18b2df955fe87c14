import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Export

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Pieces of the report's page.
struct MarkupTests {
  @Test(
    "when a number is written, then it is rounded half away from zero; a dash replaces an impossible number",
    arguments: [
      (1.005, 1, "1.0"), (0.05, 1, "0.1"), (-0.04, 1, "0.0"), (-2.5, 0, "−3"), (12.3456, 3, "12.346"), (7, 2, "7.00"),
      (.nan, 1, "–"), (.infinity, 1, "–"), (1e300, 1, "–"),
    ] as [(Double, Int, String)])
  func numbers(value: Double, places: Int, text: String) {
    #expect(Markup.number(value, places) == text)
  }

  @Test("when there is no value, then a dash replaces it")
  func none() {
    #expect(Markup.number(nil, 2) == "–" && Markup.milliseconds(nil) == "–")
    #expect(
      [24_268, 9_994, 9_995, 999, -5_004, 123_456].map(Markup.milliseconds) == [
        "24.3", "9.99", "10.0", "0.999", "−5.00", "123.5",
      ])
    #expect([43_400_000, 400_000, 60_000_000].map(Markup.shortTime) == ["43.4 s", "0.4 s", "1 min 0 s"])
  }

  @Test(
    "when a time is written, then it has at most its two largest units",
    arguments: [
      (0, "0 s"), (499_999, "0 s"), (500_000, "1 s"), (59_600_000, "1 min 0 s"), (3_599_000_000, "59 min 59 s"),
      (7_260_000_000, "2 h 1 min"), (4_656_000_000, "1 h 18 min"), (7_199_000_000, "2 h 0 min"),
    ] as [(Int64, String)])
  func times(microseconds: Int64, text: String) {
    #expect(Markup.time(microseconds) == text)
  }

  @Test("when a time is extreme, then nothing overflows")
  func extremes() {
    #expect(!Markup.time(.max).isEmpty && !Markup.time(.min).isEmpty)
    #expect(!Markup.milliseconds(.min).isEmpty)
  }

  @Test("when text has characters of HTML, then they are escaped")
  func escapes() {
    #expect(Markup.escaped("<a href=\"x\">&</a>") == "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;")
    #expect(
      Markup.escaped("\"\u{301}<\u{301}") == "&quot;\u{301}&lt;\u{301}",
      "a combining mark does not hide its base character")
  }

  @Test("when a table is written, then it is well-formed, and its first cells are headings")
  func table() {
    let html = Markup.table("Loss" + "<sup><a href=\"#n1\">1</a></sup>", ["", "A"], [["pings", "7"], ["lost", "–"]])
    #expect(XMLParser(data: Data(html.utf8)).parse(), "\(html)")
    #expect(html.contains("<th scope=\"row\">lost</th><td>–</td>"))
    #expect(html.contains("aria-label=\"Loss\""), "a footnote is no part of the name")
  }

  @Test("when a stretch has a map, then it is well-formed, with a circle per fence, and a text alternative")
  func map() throws {
    var stretch = Stretch(
      .of(.sample(pings: 10, answered: 0)))
    stretch.add(.sample(latitude: 48.21, rttSumNanoseconds: 39 * 200_000_000), metres: 200)
    stretch.add(.sample(latitude: 48.22, longitude: -179.9), metres: 200)
    let svg = StretchMap(stretch: stretch).svg()
    #expect(XMLParser(data: Data(svg.utf8)).parse(), "\(svg)")
    #expect(svg.matches(of: /<circle class="(\w+)"/).map { String($0.1) } == ["lost", "slow", "good"])
    #expect(svg.contains("aria-label=\"Map of 3 fences, north up; 1 of them without an answer.\""))
    #expect(!svg.contains("−"), "attributes have the minus of ASCII")
  }
}
