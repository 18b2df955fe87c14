import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The page as a file; `tools/test-pages` uses it in a browser.
struct MapPageTests {
  private static let nasty = "</script><script>alert(1)</script><!--\u{2028}\"'`"

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Options with a small library in the place of Leaflet.
  private func options(tiles: String? = nil) throws -> MapOptions {
    _ = try folder.write("var L = {} // </script>", to: "leaflet.js")
    _ = try folder.write(".leaflet {}", to: "leaflet.css")
    return MapOptions(leaflet: folder.path, tiles: tiles.flatMap { TileSource($0) })
  }

  private func page(_ records: [FenceRecord], tiles: String? = nil) throws -> String {
    var bytes: [UInt8] = []
    try MapPage(records, options: options(tiles: tiles)).write { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func chunks(_ page: String) throws -> [[String: Any]] {
    try page.matches(of: /<script type="application\/json" class="fences">([^<]*)<\/script>/).map { match in
      try #require(try JSONSerialization.jsonObject(with: Data(match.1.utf8)) as? [String: Any])
    }
  }

  @Test("when fences are exported, then the page has all of them, in chunks, and each of its scripts ends once")
  func fences() throws {
    let page = try page((0..<4321).map { .whole(id: $0, latitude: 48 + Double($0) / 1e5) })
    let chunks = try chunks(page)
    #expect(chunks.compactMap { $0["fences"] as? Int } == [2000, 2000, 321])
    let ids = chunks.flatMap { ($0["columns"] as? [String: Any])?["id"] as? [Int] ?? [] }
    #expect(ids == Array(0..<4321))
    #expect(page.matches(of: /<script/).count == page.matches(of: /<\/script>/).count)
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</body>\n</html>\n"))
  }

  @Test("when names have markup, then they stay text, and no script is added")
  func hostile() throws {
    let plain = try page([.whole(link: "A")])
    let hostile = try page([.whole(link: Self.nasty)])
    #expect(hostile.matches(of: /<script/).count == plain.matches(of: /<script/).count)
    #expect(!hostile.contains("alert(1)</script>"))
    let columns = try #require(try chunks(hostile).first?["columns"] as? [String: Any])
    #expect(
      (columns["link"] as? [String: Any])?["texts"] as? [String] == [Self.nasty], "a reader of JSON has it as it was")
  }

  @Test(
    "when a page is made, then its policy permits its own scripts only, each time with another number, and no request")
  func policy() throws {
    let pages = try (0..<2).map { _ in try page([.whole()]) }
    let nonces = pages.compactMap { $0.firstMatch(of: /script-src 'nonce-([a-z0-9]+)'/).map { String($0.1) } }
    #expect(nonces.count == 2 && nonces[0] != nonces[1])
    for (page, nonce) in zip(pages, nonces) {
      #expect(page.contains("default-src 'none'") && page.contains("img-src data:;"))
      #expect(page.matches(of: /<script nonce="([a-z0-9]+)"/).allSatisfy { $0.1 == nonce })
      #expect(!page.contains("src=") && !page.contains("<link") && !page.contains("@import"))
    }
  }

  @Test("when tiles are asked for, then images may come from their server, and from no other place")
  func tiles() throws {
    let page = try page([.whole()], tiles: "https://tiles.example:8443/{z}/{x}/{y}.png?key=1")
    #expect(page.contains("img-src data: https://tiles.example:8443;"))
    #expect(page.contains("\"tiles\":\"https://tiles.example:8443/{z}/{x}/{y}.png?key=1\""))
    #expect(try !self.page([.whole()]).contains("\"tiles\":\""))
  }

  @Test("when there is no fence, then there is a page without chunks")
  func empty() throws {
    let page = try page([])
    #expect(try chunks(page).isEmpty && page.contains("id=\"settings\""))
  }

  @Test("when Leaflet is not installed, then one line says what to install, and nothing is written")
  func missing() throws {
    let options = MapOptions(leaflet: folder.file("nowhere"))
    let error = #expect(throws: LeafletError.self) { try MapPage([FenceRecord.whole()], options: options) }
    #expect(
      error?.description
        == "the map page needs Leaflet, and \(folder.file("nowhere"))/leaflet.min.js cannot be read: sudo apt install libjs-leaflet"
    )
    _ = try self.options()
    try FileManager.default.removeItem(atPath: folder.file("leaflet.css"))
    #expect(throws: LeafletError(folder: folder.path, file: "leaflet.css")) { try Leaflet(folder: folder.path) }
    _ = try folder.write("", to: "leaflet.css")
    #expect(throws: LeafletError.self, "an empty file is none") { try Leaflet(folder: folder.path) }
  }

  @Test("when Leaflet has a short form, then that one is used; its terms are kept where a system has them")
  func library() throws {
    _ = try options()
    _ = try folder.write("short", to: "leaflet.min.js")
    let terms = try folder.write("BSD", to: "copyright")
    let leaflet = try Leaflet(folder: folder.path, terms: terms)
    #expect(leaflet.script == Array("short".utf8) && leaflet.terms == Array("BSD".utf8))
    #expect(try Leaflet(folder: folder.path, terms: folder.file("none")).terms.isEmpty)
  }

  @Test(
    "when Debian's Leaflet is in the page, then its text and its terms are whole",
    .enabled(if: FileManager.default.fileExists(atPath: MapOptions().leaflet), "libjs-leaflet is not installed"))
  func debian() throws {
    let page = try ExportFormat.html.text([.whole()])
    #expect(page.contains("https://leafletjs.com") && page.contains(".leaflet-container"))
    #expect(page.utf8.count > 100_000)
    #expect(page.matches(of: /<script/).count == page.matches(of: /<\/script>/).count)
  }
}
