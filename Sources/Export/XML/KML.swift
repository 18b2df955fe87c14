import Coverage
import OrderedJSON

/// KML 2.2 (OGC 07-147r2): a `Folder` for each session with its fences as placemarks, styled by technology, then a folder
/// with the tracks.
enum KML {
  /// - Parameters:
  ///   - records: The fences of a session must follow each other: each change of session begins another folder.
  ///   - provenance: Becomes the `ExtendedData` of the document, which the schema wants before the folders.
  /// - Throws: Errors of the records, of the tracks and of `write`.
  static func export(
    _ records: some FenceRecords, tracks: some DriveTracks, shape: FenceShape, provenance: ProvenanceSource? = nil,
    write: ([UInt8]) throws -> Void
  ) throws {
    var text = XMLWriter()
    beginDocument("Coverage", to: &text)
    try writeProvenance(provenance, to: &text)
    writeSchema("fence", ColumnList.storedFields, to: &text)
    var session: Int64?
    try records.forEach { record in
      if session != record.storedSession {
        if session != nil { text.raw("</Folder>\n") }
        session = record.storedSession
        beginFolder(record, to: &text)
      }
      writeFence(record, shape, to: &text)
      try text.flush(to: write)
    }
    if session != nil { text.raw("</Folder>\n") }
    var hasTracks = false
    try tracks.forEach { segment in
      if !hasTracks { text.raw("<Folder><name>Tracks</name>\n") }
      hasTracks = true
      writeTrack(segment, to: &text)
      try text.flush(to: write)
    }
    if hasTracks { text.raw("</Folder>\n") }
    endDocument(&text)
    try text.flush(to: write, isLast: true)
  }

  /// Writes everything before the schemas: the declaration, the start of the `Document` and the styles, which are the same in
  /// every document. Names of points are hidden (`LabelStyle` with scale 0), as they would cover the map.
  static func beginDocument(_ name: String, to text: inout XMLWriter) {
    text.raw(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <kml xmlns="http://www.opengis.net/kml/2.2">
      <Document>
      <name>\(name)</name>

      """)
    for entry in Legend.classes {
      for isWifi in [false, true] { writeStyle(entry, isWifi: isWifi, to: &text) }
    }
    text.raw("<Style id=\"track\"><LineStyle><color>ff404040</color><width>2</width></LineStyle></Style>\n")
  }

  /// Writes the style of a class. Fences that Wi-Fi touched, and those that were not measured, are outlines; their points are
  /// small.
  private static func writeStyle(_ entry: Legend.Entry, isWifi: Bool, to text: inout XMLWriter) {
    let (colour, isHollow) = (kmlColour(entry.colour), isWifi || entry.isHollow)
    text.raw(
      """
      <Style id="\(entry.name)\(isWifi ? wifiSuffix : "")"><IconStyle><color>ff\(colour)</color>\
      <scale>\(isHollow ? "0.4" : "0.6")</scale></IconStyle><LabelStyle><scale>0</scale></LabelStyle>\
      <LineStyle><color>ff\(colour)</color><width>2</width></LineStyle>\
      <PolyStyle><color>99\(colour)</color>\(isHollow ? "<fill>0</fill>" : "")</PolyStyle></Style>

      """)
  }

  private static let wifiSuffix = "-wifi"

  /// Writes the provenance as the data of the document: JSON, with a sentence for people as its title.
  static func writeProvenance(_ provenance: ProvenanceSource?, to text: inout XMLWriter) throws {
    guard let provenance = try provenance?() else { return }
    text.raw("<ExtendedData><Data name=\"provenance\">")
    text.element("displayName", provenance.line)
    text.element("value", provenance.json.text)
    text.raw("</Data></ExtendedData>\n")
  }

  /// Writes a `Schema`, which gives the values of placemarks their types.
  /// - Parameter name: Also its identifier, to which `schemaUrl` refers.
  static func writeSchema<Record>(_ name: String, _ fields: [Column<Record>], to text: inout XMLWriter) {
    text.raw("<Schema name=\"\(name)\" id=\"\(name)\">\n")
    for field in fields { text.raw("<SimpleField type=\"\(type(of: field.kind))\" name=\"\(field.name)\"/>\n") }
    text.raw("</Schema>\n")
  }

  static func endDocument(_ text: inout XMLWriter) { text.raw("</Document>\n</kml>\n") }

  /// The type of a `SimpleField` for values of `kind`.
  static func type(of kind: ColumnKind) -> String {
    switch kind {
    case .integer: "int"
    // KML has no longer integers.
    case .long, .decimal: "double"
    case .boolean: "bool"
    case .text, .time, .object: "string"
    }
  }

  /// `bbggrr` for HTML's `#rrggbb`. A `color` of KML is `aabbggrr`; the caller writes the opacity `aa` before it.
  private static func kmlColour(_ html: String) -> String {
    let digits = Array(html.dropFirst().lowercased())
    guard digits.count == 6 else { return "000000" }
    return String(digits[4...5] + digits[2...3] + digits[0...1])
  }

  private static func beginFolder(_ record: FenceRecord, to text: inout XMLWriter) {
    text.raw("<Folder>")
    text.element(
      "name", ["Session \(record.storedSession ?? 0)", record.link].compactMap { $0 }.joined(separator: ", "))
    text.element("description", record.session.testUUID.map { "test \($0)" })
    text.raw("\n")
  }

  /// Writes a placemark. The schema prescribes the order of its elements: `name`, `description`, `TimeSpan`, `styleUrl`,
  /// `ExtendedData`, geometry.
  private static func writeFence(_ record: FenceRecord, _ shape: FenceShape, to text: inout XMLWriter) {
    beginPlacemark(
      "fence-\(record.id)", (FenceTitle.short(record.fence), FenceTitle.long(record.fence)),
      (record.enteredAt, record.exitedAt),
      style: Legend.entry(of: record.fence).name + (record.fence.isSubmittable ? "" : wifiSuffix), to: &text)
    text.raw("<ExtendedData><SchemaData schemaUrl=\"#fence\">")
    fields.write(record, to: &text)
    text.raw("</SchemaData></ExtendedData>")
    switch shape {
    case .point: writePoint(record.fence.centre, to: &text)
    case .circle: writeCircle(record.fence, to: &text)
    }
    text.raw("</Placemark>\n")
  }

  /// Writes the start tag of a placemark and its elements up to the data.
  static func beginPlacemark(
    _ id: String, _ title: (short: String, long: String), _ span: (from: WallTime?, to: WallTime?), style: String,
    to text: inout XMLWriter
  ) {
    text.raw("<Placemark id=\"\(id)\">")
    text.element("name", title.short)
    text.element("description", title.long)
    writeSpan(span.from, span.to, to: &text)
    text.raw("<styleUrl>#\(style)</styleUrl>")
  }

  private static let fields = data(ColumnList.storedFields)

  /// Values as `SimpleData`. Booleans are 1 or 0, which XML Schema allows: GDAL reads `true` as 0.
  static func data<Record>(_ columns: [Column<Record>]) -> XMLFields<Record> {
    XMLFields(
      columns, form: { if case .bool(let value) = $0 { value ? 1 : 0 } else { $0 } },
      tags: { ("<SimpleData name=\"\($0)\">", "</SimpleData>") })
  }

  static func writePoint(_ centre: Coordinate, to text: inout XMLWriter) {
    text.raw("<Point><coordinates>\(place(centre.longitude, centre.latitude))</coordinates></Point>")
  }

  /// A polygon, or a `MultiGeometry` of two for a circle across the antimeridian.
  private static func writeCircle(_ fence: Fence, to text: inout XMLWriter) {
    let rings = CircleOutline(centre: fence.centre, radius: fence.radius).rings
    if rings.count > 1 { text.raw("<MultiGeometry>") }
    for ring in rings {
      text.raw("<Polygon><outerBoundaryIs><LinearRing><coordinates>")
      text.raw(ring.map { place($0.x, $0.y) }.joined(separator: " "))
      text.raw("</coordinates></LinearRing></outerBoundaryIs></Polygon>")
    }
    if rings.count > 1 { text.raw("</MultiGeometry>") }
  }

  /// A placemark with the segment as a line that follows the terrain (`tessellate`).
  private static func writeTrack(_ segment: TrackSegment, to text: inout XMLWriter) {
    text.raw("<Placemark>")
    text.element(
      "name", ["Track of session \(segment.session)", segment.link].compactMap { $0 }.joined(separator: ", "))
    writeSpan(segment.points.first?.time, segment.points.last?.time, to: &text)
    text.raw("<styleUrl>#track</styleUrl><LineString><tessellate>1</tessellate><coordinates>")
    text.raw(segment.points.map { place($0.place.longitude, $0.place.latitude) }.joined(separator: " "))
    text.raw("</coordinates></LineString></Placemark>\n")
  }

  /// A `TimeSpan`, so that a viewer can play the drive; open-ended without `end`, absent without `begin`.
  private static func writeSpan(_ begin: WallTime?, _ end: WallTime?, to text: inout XMLWriter) {
    guard let begin else { return }
    text.raw("<TimeSpan><begin>\(begin.iso8601)</begin>")
    if let end { text.raw("<end>\(end.iso8601)</end>") }
    text.raw("</TimeSpan>")
  }

  /// Longitude and latitude in KML's order, without altitude.
  private static func place(_ x: Double, _ y: Double) -> String {
    JSON.degrees(x).plainText + "," + JSON.degrees(y).plainText
  }
}
