import Coverage
import TestSupport
import Testing

@testable import Export

struct MapPageTests {
  private func record(_ fence: Fence) -> FenceRecord {
    FenceRecord(
      fence: fence, session: Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16)),
      origin: .store(driveStarted: .sampleStart, session: 3))
  }

  private func page(_ fences: [Fence]) throws -> String {
    var text: [UInt8] = []
    try ExportFormat.html.export(fences.map(record)) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  /// The points of each line of the track.
  private func track(_ page: String) -> [Int] {
    page.split(separator: "\n").filter { $0.hasPrefix("<polyline class=\"track\"") }
      .map { $0.split(separator: "\"")[3].split(separator: " ").count }
  }

  @Test("when the map page is made, then it needs no network and shows every fence to scale")
  func mapPage() throws {
    let text = try page([.sample(), .sample(number: 1, longitude: 16.38, isSubmittable: false)])
    #expect(text.ranges(of: "<circle ").count == 2)
    #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("src="))
    #expect(text.contains("touched by Wi-Fi"))
    #expect(try page([]).contains("There is no fence to show."))
  }

  @Test("when a technology has a strange name, then the page stays a page")
  func hostileName() throws {
    let text = try page([.sample(technology: "<script>alert(1)</script>")])
    #expect(!text.contains("<script>alert"))
  }

  @Test("when the map is drawn, then no line is of another colour than what it surrounds")
  func strokes() throws {
    let page = try self.page([.sample()])
    #expect(page.contains("circle { fill: currentColor; stroke: currentColor;"))
    #expect(page.contains(".technology circle.t-4g { color: #00DEFF; }"))
  }

  @Test("when a fence follows within four radii, then the track goes on; else it is interrupted")
  func interruptions() throws {
    // 0.0006 degrees are 67 m, 0.001 are 111 m.
    let near = [48.2, 48.2006, 48.2012].enumerated().map { Fence.sample(number: $0, latitude: $1, radius: 20) }
    #expect(track(try page(near)) == [3])
    let far = [48.2, 48.2006, 48.2016, 48.2022].enumerated().map { Fence.sample(number: $0, latitude: $1, radius: 20) }
    #expect(track(try page(far)) == [2, 2])
  }

  @Test("when there are fences, then the head has their number, the pings, the mean delay and the loss")
  func totals() throws {
    let text = try page([
      .sample(pings: 40, answered: 39, rttSumNanoseconds: 39 * 20_000_000),
      .sample(number: 1, pings: 60, answered: 11, rttSumNanoseconds: 11 * 70_000_000),
    ])
    #expect(text.contains("<h1>2 fences</h1>"))
    #expect(text.contains("<dt>pings</dt><dd>100</dd><dt>mean delay</dt><dd>31.0 ms</dd><dt>loss</dt><dd>50.0 %</dd>"))
  }

  @Test("when a single fence has no ping, then the head says so without figures")
  func noPings() throws {
    let text = try page([.sample(pings: 0, answered: 0, rttSumNanoseconds: 0)])
    #expect(text.contains("<h1>1 fence</h1>"))
    #expect(text.contains("<dt>mean delay</dt><dd>–</dd><dt>loss</dt><dd>–</dd>"))
  }

  @Test("when fences come in while the page is written, then it has those of its beginning")
  func growing() throws {
    let records = GrowingRecords(first: record(.sample()))
    var text: [UInt8] = []
    try MapPage(records).write { text += Array($0.utf8) }
    #expect(String(decoding: text, as: UTF8.self).ranges(of: "<circle ").count == 1)
    #expect(records.reads == 3)
  }
}

/// Has a fence more each time it is read.
private final class GrowingRecords: FenceRecords {
  private let first: FenceRecord
  private(set) var reads = 0

  init(first: FenceRecord) { self.first = first }

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    reads += 1
    for _ in 0..<reads { try body(first) }
  }
}
