import Foundation
import Store
import TestSupport
import Testing

@testable import Export

/// The map page as the service serves it; tools/test-pages tests it in a browser.
struct LivePageTests {
  private func page() throws -> LivePage {
    let folder = try TemporaryFolder()
    _ = try folder.write("var L = {}", to: "leaflet.js")
    _ = try folder.write(".leaflet {}", to: "leaflet.css")
    return try LivePage(options: MapOptions(leaflet: folder.path))
  }

  @Test("when the page is served, then it may connect only to its own server, and no page may frame it")
  func policy() throws {
    let page = try page()
    let html = String(decoding: page.html, as: UTF8.self)
    #expect(
      page.contentSecurityPolicy.contains("default-src 'none'")
        && page.contentSecurityPolicy.contains("connect-src 'self'"))
    #expect(
      page.contentSecurityPolicy.hasSuffix("; frame-ancestors 'none'")
        && html.contains(page.contentSecurityPolicy.dropLast("; frame-ancestors 'none'".count)))
    #expect(html.contains("class LivePanel") && html.contains("#live") && !html.contains("class=\"fences\">{"))
    #expect(!html.contains("src=") && !html.contains("<link"))
    #expect(try self.page().contentSecurityPolicy != page.contentSecurityPolicy, "a new nonce each time")
  }

  @Test("when a map is exported, then it has nothing of the live page")
  func export() throws {
    let page = String(decoding: try page().html, as: UTF8.self)
    guard FileManager.default.fileExists(atPath: MapOptions().leaflet) else { return }
    let map = try ExportFormat.html.text([.whole()])
    #expect(!map.contains("LivePanel") && !map.contains("connect-src") && page.contains("connect-src"))
  }

  @Test("when speed tests are sent, then they are one line of JSON, an object each")
  func speedTests() async throws {
    let text = LivePage.speedTests(try await StoredSpeedTest.samples())
    #expect(!text.contains(0x0A) && !text.contains(UInt8(ascii: "<")))
    let tests = try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [[String: Any]])
    #expect(tests.map { $0["state"] as? String } == ["submitted", "waiting"])
    #expect(LivePage.speedTests([]) == Array("[]".utf8))
  }

  @Test("when fences are sent, then they are one line of JSON, as columns")
  func chunk() throws {
    let chunk = LivePage.chunk([.whole(id: 1, link: "a\nb"), .bare(id: 2)])
    #expect(!chunk.contains(0x0A))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(chunk)) as? [String: Any])
    #expect(object["fences"] as? Int == 2 && (object["columns"] as? [String: Any])?["id"] as? [Int] == [1, 2])
  }
}
