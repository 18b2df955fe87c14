import Coverage
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
      text.element("name", SpeedTestTitle.short(test))
      text.element("desc", SpeedTestTitle.long(test))
      text.element("type", "speed test")
      text.raw("<extensions>")
      for (column, open, close) in speedTestFields {
        if let value = column.value(test) { text.element(open: open, number(value), close: close) }
      }
      text.raw("</extensions></wpt>\n")
      try text.flush(to: write)
    }
    text.raw("</gpx>\n")
    try text.flush(to: write, isLast: true)
  }

  /// The columns with the tags around their values, which are the same for each test.
  private static let speedTestFields = SpeedTestColumn.fields.map {
    ($0, Array("<cp:\($0.name)>".utf8), Array("</cp:\($0.name)>".utf8))
  }
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
    writeSchema("speed_test", SpeedTestColumn.fields.map { ($0.name, $0.kind) }, to: &text)
    text.raw("<Folder><name>Speed tests</name>\n")
    for test in tests {
      guard let place = test.place else { continue }
      text.raw("<Placemark id=\"speed-test-\(test.id)\">")
      text.element("name", SpeedTestTitle.short(test))
      text.element("description", SpeedTestTitle.long(test))
      writeSpan(test.started, test.ended, to: &text)
      text.raw("<styleUrl>#\(Legend.entry(of: test.technology?.generation).name)</styleUrl>")
      text.raw("<ExtendedData><SchemaData schemaUrl=\"#speed_test\">")
      for (column, tag) in speedTestFields {
        if let value = column.value(test) { text.element(open: tag, field(value), close: endOfField) }
      }
      text.raw("</SchemaData></ExtendedData>")
      writePoint(place, to: &text)
      text.raw("</Placemark>\n")
      try text.flush(to: write)
    }
    text.raw("</Folder>\n")
    endDocument(&text)
    try text.flush(to: write, isLast: true)
  }

  /// The columns with the opening tags of their values, which are the same for each test.
  private static let speedTestFields = SpeedTestColumn.fields.map {
    ($0, Array("<SimpleData name=\"\($0.name)\">".utf8))
  }
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
    let columns = SpeedTestColumn.properties
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

extension SpeedTestColumn {
  /// The column as a field of a GeoPackage.
  var field: GeoPackageField { GeoPackageField(name: name, type: kind.typeOfGeoPackage, meaning: meaning) }
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
      figures?.medianPing.map { "ping \(tenths($0, of: 1_000_000)) ms" },
      figures?.isInterrupted == true ? "interrupted" : nil,
      test.outcome == .completed
        ? nil : [test.outcome?.rawValue, test.error].compactMap { $0 }.joined(separator: ": "),
    ]
    return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func megabits(_ rate: SpeedTestRate) -> String { tenths(rate.kilobitsPerSecond, of: 1000) }

  /// `value` in `unit` with one decimal. Neither rates nor delays are negative.
  private static func tenths(_ value: Int64, of unit: Int64) -> String {
    let tenths = max(0, value).saturatingAdding(unit / 20) / (unit / 10)
    return "\(tenths / 10).\(tenths % 10)"
  }
}
