import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

struct MapChunkTests {
  private func columns(_ records: [FenceRecord]) throws -> [String: Any] {
    var chunk = MapChunk()
    for record in records { chunk.add(record) }
    let object = try #require(try JSONSerialization.jsonObject(with: Data(chunk.text)) as? [String: Any])
    #expect(object["fences"] as? Int == records.count)
    return try #require(object["columns"] as? [String: Any])
  }

  /// The values of a column of texts.
  private func texts(_ column: Any?) throws -> [String?] {
    let column = try #require(column as? [String: Any])
    let texts = try #require(column["texts"] as? [String])
    return try #require(column["places"] as? [Any]).map { place in (place as? Int).map { texts[$0] } }
  }

  @Test("when there is no fence, then there is no column")
  func empty() throws {
    #expect(try columns([]).isEmpty)
  }

  @Test("when fences have centre and radius, then the page has both with the values of the exports")
  func circles() throws {
    let columns = try columns([
      FenceRecord.bare(latitude: 48.2082123, longitude: -16.3738456, radius: 20),
      .bare(latitude: -89.5, longitude: 179.9999999, radius: 36.5),
    ])
    #expect(columns["latitude"] as? [Double] == [48.2082123, -89.5])
    #expect(columns["longitude"] as? [Double] == [-16.3738456, 179.9999999])
    #expect(columns["radius_m"] as? [Double] == [20, 36.5])
  }

  @Test(
    "when only some fences have a value, then the column has null for the others; without values there is no column")
  func gaps() throws {
    let columns = try columns([.bare(), .whole(), .bare()])
    let medians = try #require(columns["p50_ping_ms"] as? [Any])
    #expect(medians.count == 3 && medians[0] is NSNull && medians[1] as? Double == 10.5 && medians[2] is NSNull)
    #expect(try self.columns([.bare()])["p50_ping_ms"] == nil)
    let whole = try self.columns([.whole()])
    #expect(Set(whole.keys).isSubset(of: MapColumns.all.map(\.name)))
  }

  @Test("when texts repeat, then each is listed once, in order of its first occurrence")
  func lists() throws {
    let columns = try columns(["B", "A", nil, "B", "A"].map { FenceRecord.whole(link: $0) })
    let link = try #require(columns["link"] as? [String: Any])
    #expect(link["texts"] as? [String] == ["B", "A"])
    #expect(try texts(link) == ["B", "A", nil, "B", "A"])
  }

  @Test("when texts differ only in Unicode composition, then each fence keeps its own")
  func composition() throws {
    let names = ["\u{E9}", "e\u{301}"]
    let read = try texts(try columns(names.map { FenceRecord.whole(link: $0) })["link"])
    #expect(read.map { Array(($0 ?? "").unicodeScalars) } == names.map { Array($0.unicodeScalars) })
  }

  @Test("when a fence has times, then they are milliseconds since 1970, rounded down")
  func times() throws {
    let columns = try columns([.whole(), .bare()])
    let start = WallTime.sampleStart.microseconds / 1000
    #expect(columns["entered_at"] as? [Int64] == [start + 10_000, start + 10_000])
    let submitted = try #require(columns["submitted_at"] as? [Any])
    #expect(submitted[0] as? Int64 == start + 3_600_000 && submitted[1] is NSNull)
    #expect(columns["exited_at"] == nil, "the page computes it from entered_at and duration_ms")
  }

  @Test("when a fence overlaps Wi-Fi time, then its submittable value is 0")
  func booleans() throws {
    let submittable = [true, false].map { isSubmittable in
      FenceRecord(
        fence: .sample(isSubmittable: isSubmittable), session: Session(number: 0, started: .start), origin: .replay)
    }
    #expect(try columns(submittable)["submittable"] as? [Int] == [1, 0])
  }

  @Test("when a name has the end of the element, then the text has no such end, and the name is unchanged")
  func hostile() throws {
    let name = "</script><script>alert(1)</script>\u{2028}"
    var chunk = MapChunk()
    chunk.add(.whole(link: name))
    #expect(!chunk.text.contains(UInt8(ascii: "<")))
    #expect(try texts(try columns([.whole(link: name)])["link"]) == [name])
  }

  @Test("when figures are at the ends of their ranges, then nothing overflows and the text is JSON")
  func extremes() throws {
    var figures = PingFigures()
    figures.roundTrip = .init(minimum: .min, median: .max, percentile95: .max, maximum: .max)
    (figures.late, figures.duplicates, figures.meanVariation) = (.max, .max, .max)
    var radio = FenceRadio.sample
    radio.levels = [.init(quantity: .rsrp, minimum: -.infinity, median: .nan, maximum: .greatestFiniteMagnitude)]
    let fence = Fence.sample(
      number: .max, entered: 1e12, lasted: 1e12,
      fix: Fix(coordinate: nil, accuracy: .nan, altitude: .infinity, speed: .nan),
      radius: .greatestFiniteMagnitude, pings: .max, answered: 1, rttSumNanoseconds: .max, figures: figures,
      radio: radio)
    for started in [WallTime(microseconds: .max), WallTime(microseconds: .min), .sampleStart] {
      let record = FenceRecord(
        id: .max, fence: fence, session: Session(number: .max, started: .start),
        origin: .store(driveStarted: started, session: .min),
        submitted: WallTime(microseconds: .min))
      let columns = try columns([record])
      #expect(columns["signal_dbm"] == nil, "an infinite level is left out")
      #expect(columns["id"] as? [Int64] == [.max])
    }
  }

  @Test("when a fence has pings and no answer, then it has a class of its own, and so has one that was not measured")
  func technologyClass() throws {
    let fences: [Fence] = [
      .sample(technology: "2G/EDGE"), .sample(technology: "5G/NR"), .sample(technology: nil),
      .sample(answered: 0, rttSumNanoseconds: 0), .sample(pings: 0, answered: 0, rttSumNanoseconds: 0),
      .sample(answered: 0, rttSumNanoseconds: 0, isSubmittable: false), .sample(isSubmittable: false),
    ]
    let records = fences.map { FenceRecord(fence: $0, session: Session(number: 0, started: .start), origin: .replay) }
    #expect(try columns(records)["technology_class"] as? [Int] == [0, 4, 5, 6, 7, 7, 2])
  }

  @Test("when a fence has levels, then the signal is the lowest level of its technology's quantity")
  func signal() throws {
    let records = ["4G/LTE", "2G/EDGE", nil].map { technology in
      var radio = FenceRadio.sample
      radio.levels = [
        .init(quantity: .rssi, minimum: -71.25, median: -70, maximum: -60),
        .init(quantity: .rsrp, minimum: -101.5, median: -99, maximum: -90),
      ]
      return FenceRecord(
        fence: .sample(technology: technology, radio: radio), session: Session(number: 2, started: .start),
        origin: .replay)
    }
    let columns = try columns(records)
    let signal = try #require(columns["signal_dbm"] as? [Any])
    #expect(signal[0] as? Double == -101.5 && signal[1] as? Double == -71.3 && signal[2] is NSNull)
    #expect(columns["drive_session"] as? [Int] == [2, 2, 2])
  }

  @Test("when the columns are listed, then names are unique, and the columns of the formats are among them")
  func names() {
    let names = MapColumns.all.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(ColumnList.all.map(\.name)).subtracting(names) == ["exited", "exited_at", "delay_bins"])
  }
}
