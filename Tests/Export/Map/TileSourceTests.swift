import Testing

@testable import Export

struct TileSourceTests {
  @Test(
    "when the address is a tile address, then the origin is its scheme and authority",
    arguments: [
      ("https://tile.example/{z}/{x}/{y}.png", "https://tile.example"),
      ("http://127.0.0.1:8080/{z}/{x}/{y}", "http://127.0.0.1:8080"),
      ("https://[::1]:8443/a/{z}/{y}/{x}.jpg?key=1", "https://[::1]:8443"),
      ("https://a-b.example/?z={z}&x={x}&y={y}", "https://a-b.example"),
    ])
  func good(address: String, origin: String) throws {
    let tiles = try #require(TileSource(address))
    #expect(tiles.address == address && tiles.origin == origin)
  }

  @Test(
    "when the address is no tile address, then there is no source",
    arguments: [
      "", "tile.example/{z}/{x}/{y}", "ftp://tile.example/{z}/{x}/{y}", "file:///{z}/{x}/{y}", "https:///{z}/{x}/{y}",
      "https://",
      "javascript:alert(1)/{z}/{x}/{y}", "HTTPS//tile.example/{z}/{x}/{y}",
    ])
  func otherSchemes(address: String) {
    #expect(TileSource(address) == nil)
  }

  @Test(
    "when one of the three placeholders is missing in the path, then there is no source",
    arguments: ["{x}/{y}", "{z}/{y}", "{z}/{x}", "", "z/x/y", "{z}{x}", "{Z}/{X}/{Y}"])
  func missing(path: String) {
    #expect(TileSource("https://tile.example/\(path)") == nil)
  }

  @Test("when a placeholder is in the host name, then there is no source")
  func numbersInHost() {
    #expect(TileSource("https://{z}.tile.example/{x}/{y}.png") == nil)
    #expect(TileSource("https://{s}.tile.example/{z}/{x}/{y}.png") == nil)
  }

  @Test(
    "when the authority could end the directive of the page's policy, then there is no source",
    arguments: ["a b", "a;script-src *", "a'b", "a\"b", "a,b", "*", "a@b", "a>b", "é.example", "a\u{0}b", "a\nb"])
  func hostile(authority: String) {
    #expect(TileSource("https://\(authority)/{z}/{x}/{y}.png") == nil)
  }

  @Test(
    "when the path has a space or a character beyond ASCII, then there is no source",
    arguments: [" ", "\n", "\u{7F}", "ü", "\u{2028}"])
  func path(character: String) {
    #expect(TileSource("https://tile.example/\(character){z}/{x}/{y}.png") == nil)
  }

  @Test("when no option is given, then the page has Debian's Leaflet and no tiles")
  func options() {
    let options = MapOptions()
    #expect(options.tiles == nil && options.leaflet == "/usr/share/javascript/leaflet")
    #expect(MapOptions(tiles: TileSource("https://tile.example/{z}/{x}/{y}")) != options)
  }
}
