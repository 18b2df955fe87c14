import Coverage
import OrderedJSON
import Store

extension GPX {
  /// A waypoint (`wpt`) for each test with a place, where it began; tests without a place are left out. Figures are
  /// extensions, by the names of the columns.
  static func export(
    _ tests: [StoredSpeedTest], _ provenance: ProvenanceSource?, write: ([UInt8]) throws -> Void
  ) throws {
    var text = XMLWriter()
    text.raw(head)
    try metadata(provenance, to: &text)
    for test in tests {
      guard let place = test.place else { continue }
      begin("wpt", place, nil, test.started, to: &text)
      let title = (short: SpeedTestTitle.short(test), long: SpeedTestTitle.long(test))
      endWaypoint(title, "speed test", speedTestFields, of: test, to: &text)
      try text.flush(to: write)
    }
    text.raw("</gpx>\n")
    try text.flush(to: write, isLast: true)
  }

  private static let speedTestFields = extensions(SpeedTestColumns.fields)
}

extension KML {
  /// A document with one folder of the tests that have a place, styled by technology, each with its time span. Tests without
  /// a place are left out.
  static func export(
    _ tests: [StoredSpeedTest], _ provenance: ProvenanceSource?, write: ([UInt8]) throws -> Void
  ) throws {
    var text = XMLWriter()
    beginDocument("Speed tests", to: &text)
    try writeProvenance(provenance, to: &text)
    writeSchema("speed_test", SpeedTestColumns.fields, to: &text)
    text.raw("<Folder><name>Speed tests</name>\n")
    for test in tests {
      guard let place = test.place else { continue }
      beginPlacemark(
        "speed-test-\(test.id)", (SpeedTestTitle.short(test), SpeedTestTitle.long(test)), (test.started, test.ended),
        style: Legend.entry(of: test.technology?.generation).name, to: &text)
      text.raw("<ExtendedData><SchemaData schemaUrl=\"#speed_test\">")
      speedTestFields.write(test, to: &text)
      text.raw("</SchemaData></ExtendedData>")
      writePoint(place, to: &text)
      text.raw("</Placemark>\n")
      try text.flush(to: write)
    }
    text.raw("</Folder>\n")
    endDocument(&text)
    try text.flush(to: write, isLast: true)
  }

  private static let speedTestFields = data(SpeedTestColumns.fields)
}

extension GeoPackage {
  /// A package with one layer, `speed_tests`: a point where each test began. Tests without a place are left out.
  /// - Parameters:
  ///   - provenance: Becomes metadata of the package.
  ///   - scratch: A folder for the file while it is made.
  ///   - write: Receives the file in pieces.
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
    guard let down = test.figures?.download, let up = test.figures?.upload else {
      return [technology, test.outcome?.rawValue ?? "speed test"].joined(separator: " ")
    }
    return "\(technology) \(megabits(down))/\(megabits(up)) Mbit/s"
  }

  /// E.g. `download 47.8 Mbit/s, upload 12.3 Mbit/s, ping 30.0 ms`; of a test without a result also why.
  static func long(_ test: StoredSpeedTest) -> String {
    let figures = test.figures
    let parts = [
      figures?.download.map { "download \(megabits($0)) Mbit/s" },
      figures?.upload.map { "upload \(megabits($0)) Mbit/s" },
      figures?.medianPing.map { "ping \(JSON.tenths($0, of: 1_000_000)) ms" },
      figures?.isInterrupted == true ? "interrupted" : nil,
      test.outcome == .completed
        ? nil : [test.outcome?.rawValue, test.error].compactMap { $0 }.joined(separator: ": "),
    ]
    return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func megabits(_ rate: SpeedTestRate) -> String { JSON.tenths(rate.kilobitsPerSecond, of: 1000) }
}
