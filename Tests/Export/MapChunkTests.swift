import Coverage
import Foundation
import OrderedJSON
import TestSupport
import Testing

@testable import Export

/// The fences of the map page, column by column.
struct MapChunkTests {
  private func columns(_ records: [FenceRecord]) throws -> [String: Any] {
    var chunk = MapChunk()
    for record in records { chunk.add(record) }
    let object = try #require(try JSONSerialization.jsonObject(with: Data(chunk.text)) as? [String: Any])
    #expect(object["fences"] as? Int == records.count)
    return try #require(object["columns"] as? [String: Any])
  }

  @Test(
    "when a column has values, then it has one for each fence, null where it is unknown; without any, it is left out")
  func values() throws {
    let columns = try columns([.whole(id: 1), .bare(id: 2), .whole(id: 3)])
    #expect(columns["id"] as? [Int] == [1, 2, 3])
    let means = try #require(columns["avg_ping_ms"] as? [Any])
    #expect(means[0] as? Double == 31.67 && means[1] is NSNull && means[2] as? Double == 31.67)
    let bare = try self.columns([.bare()])
    #expect(bare["avg_ping_ms"] == nil && bare["link"] == nil && bare["latitude"] as? [Double] == [48.2])
    #expect(columns["exited_at"] == nil, "the page has the duration")
  }

  @Test("when texts repeat, then each is there once, and fences have its number")
  func texts() throws {
    let links = ["B", "A", "B", nil, "A"]
    let columns = try columns(links.enumerated().map { .whole(id: Int64($0.offset), link: $0.element) })
    let link = try #require(columns["link"] as? [String: Any])
    #expect(link["texts"] as? [String] == ["B", "A"])
    let places = try #require(link["places"] as? [Any])
    #expect(places.map { $0 as? Int } == [0, 1, 0, nil, 1])
  }

  @Test("when a value is a moment or a truth, then it is a number: milliseconds since 1970, 1 or 0")
  func numbers() throws {
    let columns = try columns([.whole()])
    let entered = try #require((columns["entered_at"] as? [Int])?.first)
    #expect(Int64(entered) * 1000 == WallTime.sampleStart.later(by: .seconds(10)).microseconds)
    #expect(columns["roaming"] as? [Int] == [1])
  }

  @Test(
    "when fences have technologies, then their class is the place of their colour in the legend",
    arguments: [
      ("2G/EDGE", 10, 0), ("4G/LTE", 10, 2), ("5G/NR", 10, 4), ("6G", 10, 5), ("4G/LTE", 0, 5),
    ])
  func classes(technology: String, answered: Int, place: Int) throws {
    let record = FenceRecord(
      fence: .sample(technology: technology, pings: 10, answered: answered, rttSumNanoseconds: 1),
      session: Session(number: 0, started: .start), origin: .replay)
    #expect(try columns([record])["technology_class"] as? [Int] == [place])
  }

  @Test("when a fence has levels of signal, then the map's is the lowest one that stands for its technology")
  func signal() throws {
    var radio = FenceRadio.sample
    radio.levels = [.init(quantity: .rsrp, minimum: -111.5, median: -91, maximum: -80.5)]
    let record = FenceRecord(
      fence: .sample(radio: radio), session: Session(number: 3, started: .start), origin: .replay)
    let columns = try columns([record])
    #expect(columns["signal_dbm"] as? [Double] == [-111.5])
    #expect(columns["drive_session"] as? [Int] == [3], "a replay has no number of the store")
  }

  @Test("when every fence of a chunk is written, then each value is that of the column of all formats")
  func agreement() throws {
    let record = FenceRecord.whole()
    let columns = try columns([record])
    for column in ColumnList.all where ![.text, .object, .time, .boolean].contains(column.kind) {
      let value = (columns[column.name] as? [NSNumber])?.first
      #expect(value?.doubleValue == column.value(record).flatMap { Double($0.text) }, "\(column.name)")
    }
  }

  // MARK: Text in scripts

  @Test("when JSON is inside of an element, then it has no `<` and no line separator, and the same meaning")
  func json() throws {
    let texts = ["</script>", "<!--", "a\u{2028}b\u{2029}c", "–\u{2027}\u{202A}", "\u{E2}", "\\", "ü"]
    let json = JSON.array(texts.map(JSON.string)).text
    let escaped = ScriptText.json(Array(json.utf8))
    #expect(!escaped.contains(UInt8(ascii: "<")))
    let text = String(decoding: escaped, as: UTF8.self)
    #expect(!text.unicodeScalars.contains { ["\u{2028}", "\u{2029}"].contains($0) })
    #expect(try JSONSerialization.jsonObject(with: Data(escaped)) as? [String] == texts)
    #expect(ScriptText.json([0xE2, 0x80]) == [0xE2, 0x80], "an incomplete character at the end is passed on")
  }

  @Test(
    "when a library has ends of elements in its strings, then they are escaped; other slashes are not",
    arguments: [
      ("x='</script>'", "x='<\\/script>'"), ("'</STYLE>'", "'<\\/STYLE>'"), ("a</b>", "a</b>"), ("1</2", "1</2"),
      ("/", "/"),
      ("</", "</"),
    ])
  func library(text: String, escaped: String) {
    #expect(String(decoding: ScriptText.library(Array(text.utf8)), as: UTF8.self) == escaped)
  }

  // MARK: Tiles

  @Test(
    "when an address names a tile, then its origin is what the policy permits",
    arguments: [
      ("https://tile.example.org/{z}/{x}/{y}.png", "https://tile.example.org"),
      ("http://[::1]:8080/t?z={z}&x={x}&y={y}", "http://[::1]:8080"),
      ("http://127.0.0.1/{y}/{x}/{z}", "http://127.0.0.1"),
    ])
  func origin(address: String, origin: String) { #expect(TileSource(address)?.origin == origin) }

  @Test(
    "when an address is no tile's, or would end the policy's directive, then it is refused",
    arguments: [
      "", "tile.example.org/{z}/{x}/{y}", "ftp://a/{z}/{x}/{y}", "https://a/{z}/{x}", "https:///{z}/{x}/{y}",
      "https://a; script-src */{z}/{x}/{y}", "https://a b/{z}/{x}/{y}", "https://u@h/{z}/{x}/{y}",
      "https://a/{z}/{x}/{y}/ü",
      "https://a/{z}/{x}/{y} ", "https://{z}{x}{y}/", "javascript:alert(1)//{z}{x}{y}",
    ])
  func refused(address: String) { #expect(TileSource(address) == nil) }
}
