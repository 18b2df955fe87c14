import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

struct MapPageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write("globalThis.L = '</script>';", to: "leaflet.js")
    _ = try folder.write(".leaflet { background: url(data:image/png;base64,) }", to: "leaflet.css")
  }

  private func page(_ records: some FenceRecords, tiles: TileSource? = nil) throws -> String {
    var text: [UInt8] = []
    try ExportFormat.html.export(records, map: MapOptions(leaflet: folder.path, tiles: tiles)) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  /// The texts of the elements whose start has `attributes`, by a reader that ends an element at the first end, as HTML has it.
  private func elements(_ attributes: String, of page: String) -> [String] {
    page.components(separatedBy: "<script ").dropFirst().compactMap { part in
      guard let start = part.range(of: ">"), let end = part.range(of: "</script", options: .caseInsensitive) else {
        return nil
      }
      return part[..<start.lowerBound].contains(attributes) ? String(part[start.upperBound..<end.lowerBound]) : nil
    }
  }

  private func chunks(_ page: String) throws -> [[String: Any]] {
    try elements("class=\"fences\"", of: page).map { text in
      try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
  }

  private func settings(_ page: String) throws -> [String: Any] {
    let text = try #require(elements("id=\"settings\"", of: page).first)
    return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// What the page may load images from.
  private func images(_ page: String) -> String {
    page.components(separatedBy: "img-src ").dropFirst().first.map { String($0.prefix { $0 != ";" }) } ?? ""
  }

  @Test("when the page has no tiles, then its policy allows no address, and no element loads anything")
  func offline() throws {
    let page = try page([FenceRecord.whole(), .bare()])
    #expect(images(page) == "data:")
    #expect(page.contains("default-src 'none'") && !page.contains("connect-src"))
    #expect(
      !page.contains("src=") && !page.contains("<link") && !page.contains("@import") && !page.contains("unsafe-inline"))
    #expect(try settings(page)["tiles"] == nil)
  }

  @Test("when the page has tiles, then its policy allows their origin alone")
  func tiles() throws {
    let page = try page([FenceRecord.whole()], tiles: TileSource("https://tile.example/{z}/{x}/{y}.png"))
    #expect(images(page) == "data: https://tile.example")
    #expect(try settings(page)["tiles"] as? String == "https://tile.example/{z}/{x}/{y}.png")
  }

  @Test("when a script is to run, then it has the page's number, which no other page has")
  func nonces() throws {
    func nonce(_ page: String) throws -> String {
      try #require(page.components(separatedBy: "script-src 'nonce-").dropFirst().first).prefix { $0 != "'" }
        .description
    }
    let (first, second) = (try page([FenceRecord.whole()]), try page([FenceRecord.whole()]))
    let (one, other) = (try nonce(first), try nonce(second))
    #expect(one != other && one.count >= 12)
    #expect(elements("nonce=\"\(one)\"", of: first).count == 2, "the library and the page's own script")
    #expect(first.contains("<style nonce=\"\(one)\">"))
  }

  @Test("when the library has the end of an element in a string, then the element goes on")
  func library() throws {
    let page = try page([FenceRecord.whole()])
    #expect(page.contains("globalThis.L = '<\\/script>';</script>"))
    #expect(page.contains(".leaflet { background: url(data:image/png;base64,) }"))
  }

  @Test("when names hold HTML, then the page has them as JSON only")
  func hostile() throws {
    let name = "</script><img src=x onerror=alert(1)>"
    let page = try page([FenceRecord.whole(link: name)])
    #expect(!page.contains("<img"))
    let link = try #require((try chunks(page).first?["columns"] as? [String: Any])?["link"] as? [String: Any])
    #expect(link["texts"] as? [String] == [name])
  }

  @Test(
    "when there are more fences than a chunk has, then each is there once and in order",
    arguments: [0, 1, 2000, 2001, 4001])
  func chunks(count: Int) throws {
    let chunks = try chunks(try page((0..<count).map { FenceRecord.bare(id: Int64($0)) }))
    #expect(chunks.count == (count + 1999) / 2000)
    let ids = chunks.flatMap { ($0["columns"] as? [String: Any])?["id"] as? [Int] ?? [] }
    #expect(ids == Array(0..<count))
  }

  @Test("when there are many fences, then they are written on the way and read once")
  func streamed() throws {
    let records = CountedRecords(count: 4001)
    var (largest, whole) = (0, 0)
    try ExportFormat.html.export(records, map: MapOptions(leaflet: folder.path)) { bytes in
      (largest, whole) = (max(largest, bytes.count), whole + bytes.count)
    }
    #expect(records.reads == 1 && largest < whole / 2, "\(largest) of \(whole) bytes at once")
  }

  @Test("when there is no fence, then the page is whole all the same")
  func empty() throws {
    let page = try page([FenceRecord]())
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    #expect(page.contains("id=\"map\"") && page.contains("<noscript>"))
  }

  @Test("when the page explains its colours and columns, then they are the legend's and the exports' own")
  func settings() throws {
    let settings = try settings(try page([FenceRecord.whole()]))
    let technologies = try #require(settings["technologies"] as? [[String: String]])
    #expect(technologies.map { $0["colour"] } == Legend.technologies.map(\.colour))
    let columns = try #require(settings["columns"] as? [[String]])
    #expect(columns == MapColumns.all.map { [$0.name, $0.kind.rawValue, $0.meaning] })
  }

  @Test("when the parts of the script are joined, then a part stands before those that use it")
  func script() throws {
    let script = String(decoding: MapScript.text, as: UTF8.self)
    let places = try [
      "class FenceTable", "function makeViews", "const FenceLayer", "class Timeline", "class SessionsTable",
      "class CoverageMap",
    ]
    .map { try #require(script.range(of: $0)).lowerBound }
    #expect(places == places.sorted())
    #expect(!script.contains("</script") && !script.contains("innerHTML") && !script.contains("eval("))
    #expect(!script.contains("fetch(") && !script.contains("XMLHttpRequest") && !script.contains("WebSocket"))
  }

  @Test("when the style sheet is in the page, then it loads nothing either")
  func style() throws {
    let page = try page([FenceRecord]())
    #expect(page.contains("prefers-reduced-motion") && page.contains("@media print"))
    #expect(!page.contains("url(http") && !page.contains("url(//"))
  }
}

/// Knows how often it was read.
private final class CountedRecords: FenceRecords {
  private let count: Int
  private(set) var reads = 0

  init(count: Int) { self.count = count }

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    reads += 1
    for number in 0..<count { try body(.bare(id: Int64(number))) }
  }
}
