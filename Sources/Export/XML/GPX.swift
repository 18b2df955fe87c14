import Coverage
import OrderedJSON

/// GPX 1.1: a waypoint (`wpt`) for each fence, or for each speed test where it began, then a track (`trk`) for each session with a `trkseg` for each segment. GPX
/// has no elements for the figures: they are extensions, by the names of the columns.
enum GPX {
  /// The name space of the extensions, prefix `cp`.
  static let namespace = "urn:x-coverage-probe:gpx:1"

  /// The declaration and the start tag of the document.
  private static let head = """
    <?xml version="1.0" encoding="UTF-8"?>
    <gpx version="1.1" creator="coverage-probe" xmlns="http://www.topografix.com/GPX/1/1" xmlns:cp="\(namespace)">

    """

  /// - Parameters:
  ///   - columns: Those of the extensions.
  ///   - tracks: The segments of a session must follow each other: each change of session begins another `trk`.
  ///   - provenance: Becomes the `metadata`, which the schema wants first.
  ///   - forEach: Calls its argument with each record; the order is free.
  /// - Throws: Errors of the records, of the tracks and of `write`.
  static func export<Record: Feature>(
    _ columns: [Column<Record>], tracks: some DriveTracks, provenance: ProvenanceSource?,
    write: ([UInt8]) throws -> Void, forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var text = XMLWriter()
    text.raw(head)
    try metadata(provenance, to: &text)
    let fields = extensions(columns)
    try forEach { record in
      guard let place = record.place else { return }
      let title = record.title
      begin("wpt", place, record.altitude, record.span.from, to: &text)
      text.element("name", title.short)
      text.element("desc", title.long)
      text.element("type", Record.kind)
      text.raw("<extensions>")
      fields.write(record, to: &text)
      text.raw("</extensions></wpt>\n")
      try text.flush(to: write)
    }
    var session: Int64?
    try tracks.forEach { segment in
      if segment.session != session {
        if session != nil { text.raw("</trk>\n") }
        text.raw("<trk>")
        text.element("name", ["session \(segment.session)", segment.link].compactMap { $0 }.joined(separator: ", "))
        text.raw("\n")
        session = segment.session
      }
      text.raw("<trkseg>\n")
      for point in segment.points {
        trackPoint(point, to: &text)
        try text.flush(to: write)
      }
      text.raw("</trkseg>\n")
    }
    if session != nil { text.raw("</trk>\n") }
    text.raw("</gpx>\n")
    try text.flush(to: write, isLast: true)
  }

  /// Appends the provenance: a sentence for people, and JSON as an extension.
  private static func metadata(_ provenance: ProvenanceSource?, to text: inout XMLWriter) throws {
    guard let provenance = try provenance?() else { return }
    text.raw("<metadata>")
    text.element("desc", provenance.line)
    text.raw("<extensions>")
    text.element("cp:provenance", provenance.json.text)
    text.raw("</extensions></metadata>\n")
  }

  /// Values as extensions. GDAL takes whole numbers there for 32 bits and cuts longer ones; as decimals it reads them right.
  private static func extensions<Record>(_ columns: [Column<Record>]) -> XMLFields<Record> {
    XMLFields(
      columns,
      form: { value in
        guard case .integer(let number) = value, Int32(exactly: number) == nil else { return value }
        return .string("\(number).0")
      }, tags: { ("<cp:\($0)>", "</cp:\($0)>") })
  }

  /// GDAL gives up a file whose waypoints have more than 99 fields, of which GPX's own are 23. The band follows from the cell's channel.
  static let omitted = Set(["cell_band"] + RadioColumns.environment.map(\.name))

  static let fields = ColumnList.storedFields.filter { !omitted.contains($0.name) }

  /// A position of a track. GPX 1.1 dropped the elements `speed` and `course` of GPX 1.0: they are extensions.
  private static func trackPoint(_ point: TrackPoint, to text: inout XMLWriter) {
    begin("trkpt", point.place, point.fix.altitude, point.time, to: &text)
    text.raw("<extensions>")
    text.element("cp:accuracy_m", point.fix.accuracy.map { JSON.figure($0, 2).plainText })
    text.element("cp:course_deg", point.fix.course.map { JSON.course($0).plainText })
    text.element("cp:speed_mps", point.fix.speed.map { JSON.figure($0, 2).plainText })
    text.raw("</extensions></trkpt>\n")
  }

  /// Appends the start tag of a `wpt` or `trkpt`, and its first elements `ele` and `time`. The schema (`wptType`) prescribes
  /// this order of the elements, and `name`, `desc`, `type` and `extensions` behind them. The caller closes the element.
  private static func begin(
    _ name: String, _ place: Coordinate, _ altitude: Double?, _ time: WallTime?, to text: inout XMLWriter
  ) {
    // The schema excludes 180 degrees east, which a longitude just below it becomes by rounding to seven decimals. A track would
    // run around the Earth to 180 degrees west: it ends a centimetre before.
    let limit = name == "trkpt" ? 179.9999999 : -180
    let longitude = (place.longitude * 1e7).rounded() >= 180e7 ? limit : place.longitude
    text.raw(
      "<\(name) lat=\"\(JSON.degrees(place.latitude).plainText)\" lon=\"\(JSON.degrees(longitude).plainText)\">")
    // A decimal of XML Schema has no exponent; no altitude needs one.
    text.element("ele", altitude.flatMap { JSON.rounded($0, places: 2)?.plainText })
    text.element("time", time?.iso8601)
  }
}
