import Coverage
import Foundation
import Store
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

  private func page(
    _ records: some FenceRecords, speedTests: [StoredSpeedTest] = [], tiles: TileSource? = nil
  ) throws -> String {
    var text: [UInt8] = []
    let map = MapOptions(leaflet: folder.path, tiles: tiles)
    try ExportFormat.html.export(records, speedTests: speedTests, map: map) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  /// The texts of the elements whose start has `attributes`, which end at the first end tag, as in HTML.
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

  /// The sources from which the page may load images.
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

  @Test("when a page has scripts, then they have the page's nonce, which no other page has")
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

  @Test("when the library has the end of an element in a string, then it is escaped")
  func library() throws {
    let page = try page([FenceRecord.whole()])
    #expect(page.contains("globalThis.L = '<\\/script>';</script>"))
    #expect(page.contains(".leaflet { background: url(data:image/png;base64,) }"))
  }

  @Test("when names have HTML, then the page has them only as JSON")
  func hostile() throws {
    let name = "</script><img src=x onerror=alert(1)>"
    let page = try page([FenceRecord.whole(link: name)])
    #expect(!page.contains("<img"))
    let link = try #require((try chunks(page).first?["columns"] as? [String: Any])?["link"] as? [String: Any])
    #expect(link["texts"] as? [String] == [name])
  }

  private func speedTests(_ page: String) throws -> [[String: Any]] {
    try elements("id=\"speed-tests\"", of: page).flatMap { text in
      try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }
  }

  @Test("when there are speed tests, then the page has each once with the exports' values, without curves")
  func speedTests() async throws {
    let samples = try await StoredSpeedTest.samples()
    let page = try page([FenceRecord.whole()], speedTests: samples)
    let tests = try speedTests(page)
    #expect(tests.map { $0["id"] as? Int } == [1, 2])
    for (test, sample) in zip(tests, samples) {
      let names = SpeedTestColumns.table.filter { $0.value(sample) != nil }.map(\.name) + ["technology_class"]
      #expect(Set(test.keys) == Set(names))
    }
    #expect(tests[0]["download_kbps"] as? Int == 47_800 && tests[0]["outcome"] as? String == "completed")
    #expect(tests[0]["started_at"] as? String == "2026-11-20T10:00:00.000Z")
    #expect(tests[0]["technology_class"] as? Int == 2 && tests[1]["technology_class"] as? Int == 5, "4G, and unknown")
    #expect(tests[1]["latitude"] == nil && tests[1]["error"] as? String == "no connection")
    #expect(!page.contains("_curves\""), "\(page.count)")
    #expect(elements("id=\"speed-tests\"", of: try self.page([FenceRecord.whole()])).isEmpty, "no test, no element")
  }

  @Test("when the texts of a speed test have HTML, then the page has them only as JSON")
  func hostileSpeedTest() async throws {
    let name = "</script><script>alert(1)</script>\u{2028}<img src=x>"
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    let id = try await store.speedTests.begin(
      .init(controlServer: "http://host", clientUUID: "C", testUUID: name, token: "t", started: .sampleStart))
    var figures = SpeedTestFigures.sample()
    (figures.serverName, figures.operatorName, figures.server) = (name, name, name)
    try await store.speedTests.end(id, .init(.failed, at: .sampleStart, figures: figures, error: name))
    let page = try page([FenceRecord](), speedTests: try await store.reading { try $0.speedTests() })
    #expect(!page.contains("<img") && !page.contains("<script>alert"))
    let test = try #require(try speedTests(page).first)
    for column in ["test_uuid", "error", "server", "server_name", "operator_name"] {
      #expect(test[column] as? String == name, "\(column)")
    }
  }

  @Test(
    "when there are more fences than a chunk holds, then the page has each once and in order",
    arguments: [0, 1, 2000, 2001, 4001])
  func chunks(count: Int) throws {
    let chunks = try chunks(try page((0..<count).map { FenceRecord.bare(id: Int64($0)) }))
    #expect(chunks.count == (count + 1999) / 2000)
    let ids = chunks.flatMap { ($0["columns"] as? [String: Any])?["id"] as? [Int] ?? [] }
    #expect(ids == Array(0..<count))
  }

  @Test("when there are many fences, then they are read once and written meanwhile")
  func streamed() throws {
    let records = CountedRecords(count: 4001)
    var (largest, whole) = (0, 0)
    try ExportFormat.html.export(records, map: MapOptions(leaflet: folder.path)) { bytes in
      (largest, whole) = (max(largest, bytes.count), whole + bytes.count)
    }
    #expect(records.reads == 1 && largest < whole / 2, "\(largest) of \(whole) bytes at once")
  }

  @Test("when there is no fence, then the page is still complete")
  func empty() throws {
    let page = try page([FenceRecord]())
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    #expect(page.contains("id=\"map\"") && page.contains("<noscript>"))
  }

  @Test("when the page explains its colours and columns, then they are those of the legend and the exports")
  func settings() throws {
    let settings = try settings(try page([FenceRecord.whole()]))
    let technologies = try #require(settings["technologies"] as? [[String: Any]])
    #expect(technologies.map { $0["colour"] as? String } == Legend.classes.map(\.colour))
    #expect(technologies.map { $0["is_hollow"] as? Bool } == Legend.classes.map(\.isHollow))
    let columns = try #require(settings["columns"] as? [[String]])
    #expect(columns == MapColumns.all.map { [$0.name, $0.kind.rawValue, $0.meaning] })
    let ofTests = try #require(settings["speed_test_columns"] as? [[String]])
    #expect(ofTests == SpeedTestColumns.table.map { [$0.name, $0.kind.rawValue, $0.meaning] })
  }

  @Test("when the parts of the script are joined, then each part precedes the parts that use it")
  func script() throws {
    let script = String(decoding: MapScript.text, as: UTF8.self)
    let places = try [
      "function drawSquare", "class Mercator", "class FenceTable", "class FenceItem", "class SpeedTestList",
      "class TimeAxis",
      "function makeViews", "const FenceLayer", "class Timeline", "class SessionsTable", "class SpeedTestTable",
      "class Card", "class CoverageMap",
    ]
    .map { try #require(script.range(of: $0)).lowerBound }
    #expect(places == places.sorted())
    #expect(!script.contains("</script") && !script.contains("innerHTML") && !script.contains("eval("))
    #expect(!script.contains("fetch(") && !script.contains("XMLHttpRequest") && !script.contains("WebSocket"))
  }

  @Test("when the style sheet is in the page, then it loads nothing")
  func style() throws {
    let page = try page([FenceRecord]())
    #expect(page.contains("prefers-reduced-motion") && page.contains("@media print"))
    #expect(!page.contains("url(http") && !page.contains("url(//"))
  }
}

/// Counts how often it is read.
private final class CountedRecords: FenceRecords {
  private let count: Int
  private(set) var reads = 0

  init(count: Int) { self.count = count }

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    reads += 1
    for number in 0..<count { try body(.bare(id: Int64(number))) }
  }
}
