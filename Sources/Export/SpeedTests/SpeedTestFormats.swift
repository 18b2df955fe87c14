import Coverage
import OrderedJSON
import Store

extension StoredSpeedTest: Feature {
  static let kind = "speed test"
  var altitude: Double? { nil }
  var radius: Double? { nil }
  var span: (from: WallTime?, to: WallTime?) { (started, ended) }
  var title: (short: String, long: String) { (SpeedTestTitle.short(self), SpeedTestTitle.long(self)) }
  var style: String { Legend.entry(of: technology?.generation).name }
}

extension GeoPackage {
  /// A package with one layer, `speed_tests`: a point where each test began. Tests without a place are left out.
  /// - Throws: ``GeoPackageError``, and errors of `write`.
  static func export(
    _ tests: [StoredSpeedTest], _ provenance: ProvenanceSource?, scratch: String, write: ([UInt8]) throws -> Void
  ) throws {
    let columns = SpeedTestColumns.properties
    try make(scratch: scratch, styles: LayerStyle.ofSpeedTests, write: write) { database in
      let layer = try GeoPackageLayer(
        "speed_tests", geometry: "POINT", description: "speed tests, where they began", fields: columns.map(\.field),
        in: database)
      for test in tests {
        guard let place = test.place else { continue }
        try layer.add(GeoPackageGeometry(point: place), id: test.id, values: columns.map { $0.value(test) })
      }
      try layer.finish()
      try add(provenance, to: database)
    }
  }
}

/// The title and the description of a speed test in KML and GPX: `name`, and `description` or `desc`.
enum SpeedTestTitle {
  /// E.g. `4G/LTE 47.8/12.3 Mbit/s`: down, then up. A test without both rates has its outcome instead: `4G/LTE failed`.
  static func short(_ test: StoredSpeedTest) -> String {
    let technology = test.figures?.links?.otherName ?? (test.technology ?? .none).name
    guard let down = test.figures?.download?.kilobitsPerSecond, let up = test.figures?.upload?.kilobitsPerSecond else {
      return [technology, test.outcome?.rawValue ?? "speed test"].joined(separator: " ")
    }
    return "\(technology) \(megabits(down))/\(megabits(up)) Mbit/s"
  }

  /// E.g. `download 47.8 Mbit/s, upload 12.3 Mbit/s, ping 30.0 ms`; of a test without a result also why.
  static func long(_ test: StoredSpeedTest) -> String {
    let figures = test.figures
    let parts = [
      figures?.download?.kilobitsPerSecond.map { "download \(megabits($0)) Mbit/s" },
      figures?.upload?.kilobitsPerSecond.map { "upload \(megabits($0)) Mbit/s" },
      figures?.medianPing.map { "ping \(JSON.tenths($0, of: 1_000_000)) ms" },
      figures?.isInterrupted == true ? "interrupted" : nil,
      test.outcome == .completed
        ? nil : [test.outcome?.rawValue, test.error].compactMap { $0 }.joined(separator: ": "),
    ]
    return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func megabits(_ kilobits: Int64) -> String { JSON.tenths(kilobits, of: 1000) }
}
