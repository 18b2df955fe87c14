import Coverage
import Store

extension KML {
  /// A document with one folder of the tests that have a place, styled by technology, each with its time span. Tests without
  /// a place are left out.
  static func export(_ tests: [StoredSpeedTest], write: ([UInt8]) throws -> Void) throws {
    var text = XMLWriter()
    beginDocument("Speed tests", to: &text)
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
