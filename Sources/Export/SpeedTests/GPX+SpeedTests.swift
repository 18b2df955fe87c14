import Coverage
import Store

extension GPX {
  /// A waypoint (`wpt`) for each test with a place, where it began; tests without a place are left out. Figures are
  /// extensions, by the names of the columns.
  static func export(_ tests: [StoredSpeedTest], write: ([UInt8]) throws -> Void) throws {
    var text = XMLWriter()
    text.raw(head)
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
