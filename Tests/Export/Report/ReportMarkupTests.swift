import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The page as a document: elements that nest, tables without missing cells, links with targets.
@Suite struct ReportMarkupTests {
  private static func page(parts: Int, fences: Int = 60, tests: Int64 = 0) -> String {
    var comparison = PlaceComparison()
    let parts = (0..<parts).map { index in
      var road = RandomRoad(random: SeededGenerator(seed: UInt64(index)))
      var figures = ReportFigures()
      for fence in road.fences(fences) {
        figures.add(fence)
        comparison.add(fence.fence, to: index == 0 ? .first : .second)
      }
      figures.endFences()
      for test in 0..<tests { figures.add(.sample(Int64(index) * 1000 + test, delays: [.idle: 10, .upload: 20])) }
      return Report.Part(title: "Drive \(index) <&>", figures: figures)
    }
    return ReportPage(Report(parts: parts, comparison: parts.count > 1 ? comparison : nil)).html
  }

  /// The elements that are open at the end of the page, and whether each end tag closed the innermost open element.
  private func nesting(_ page: String) -> (open: [Substring], isRight: Bool) {
    let empty: Set<Substring> = ["meta", "br", "circle", "polyline", "path", "rect"]
    var (open, isRight): ([Substring], Bool) = ([], true)
    for match in page.matches(of: /<(\/?)([a-z][a-z0-9]*)[^>]*>/) where !empty.contains(match.2) {
      if match.1.isEmpty {
        open.append(match.2)
      } else if open.popLast() != match.2 {
        isRight = false
      }
    }
    return (open, isRight)
  }

  @Test(
    "when a report has one part or two, or no fences, then its elements nest correctly",
    arguments: [(1, 60, 0), (2, 60, 0), (1, 0, 0), (2, 1, 0), (1, 60, 20), (2, 60, 20), (2, 0, 1)])
  func nesting(parts: Int, fences: Int, tests: Int64) {
    let nesting = nesting(Self.page(parts: parts, fences: fences, tests: tests))
    #expect(nesting.isRight && nesting.open.isEmpty, "\(nesting.open)")
  }

  @Test("when an element is closed in the wrong order, then the check of this suite detects it")
  func control() {
    #expect(!nesting("<p><b>x</p></b>").isRight)
    #expect(nesting("<p><b>x</b>").open == ["p"])
  }

  @Test(
    "when a table is written, then each of its rows has as many cells as the table has column heads",
    arguments: [(1, 0, 5), (2, 0, 7), (1, 20, 7), (2, 20, 9)])
  func cells(parts: Int, tests: Int64, count: Int) throws {
    let tables = Self.page(parts: parts, tests: tests).matches(of: /<table>[\s\S]*?<\/table>/).map(\.output)
    #expect(tables.count == count)
    for table in tables {
      let heads = table.matches(of: /<th scope="col">/).count
      let rows = table.matches(of: /<tr><th scope="row">[\s\S]*?<\/tr>/)
      #expect(!rows.isEmpty)
      for row in rows { #expect(1 + row.output.matches(of: /<td>/).count == heads, "\(row.output.prefix(80))") }
    }
  }

  @Test("when a page has links, then each leads to a unique element of the page")
  func links() {
    let page = Self.page(parts: 2, tests: 5)
    let names = page.matches(of: /\ id="([^"]*)"/).map(\.1)
    #expect(Set(names).count == names.count)
    for link in page.matches(of: /href="([^"]*)"/) {
      #expect(link.1.first == "#" && names.contains(link.1.dropFirst()))
    }
  }

  @Test(
    "when a screen reader reads the page, then it finds a language, a title, a main heading, and names of maps and tables"
  )
  func names() {
    let page = Self.page(parts: 1)
    #expect(page.contains("<html lang=\"en\">") && page.contains("<title>Coverage report</title>"))
    #expect(page.matches(of: /<h1>/).count == 1)
    #expect(page.matches(of: /<svg/).count == page.matches(of: /<svg [^>]*role="img" aria-label="[^"]+"/).count)
    #expect(page.matches(of: /<table>/).count == page.matches(of: /<table><caption>[^<]/).count)
  }
}
