import Coverage
import OrderedJSON

/// KML 2.2 (OGC 07-147r2): a `Folder` for each session with its fences as placemarks, styled by technology, then a folder
/// with the tracks; or one folder with the speed tests that have a place.
enum KML {
  /// What a folder has before its placemarks.
  typealias Folder = (session: Int64?, name: String, description: String?)

  /// - Parameters:
  ///   - first: A folder that is there without records too.
  ///   - provenance: Becomes the `ExtendedData` of the document, which the schema wants before the folders.
  ///   - folder: That of a record; records of a folder must follow each other.
  ///   - forEach: Calls its argument with each record.
  /// - Throws: Errors of the records, of the tracks and of `write`.
  static func export<Record: Feature>(
    _ name: String, _ columns: [Column<Record>], first: Folder? = nil, tracks: some DriveTracks,
    shape: FenceShape = .point, provenance: ProvenanceSource?, write: ([UInt8]) throws -> Void,
    folder: (Record) -> Folder, forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var text = XMLWriter()
    beginDocument(name, to: &text)
    try writeProvenance(provenance, to: &text)
    let (schema, prefix) = (Record.kind.replacing(" ", with: "_"), Record.kind.replacing(" ", with: "-") + "-")
    writeSchema(schema, columns, to: &text)
    let fields = data(columns)
    var open = first
    if let first { begin(first, to: &text) }
    try forEach { record in
      guard let place = record.place else { return }
      let next = folder(record)
      if open == nil || open?.session != next.session {
        if open != nil { text.raw("</Folder>\n") }
        begin(next, to: &text)
        open = next
      }
      // The schema prescribes this order: `name`, `description`, `TimeSpan`, `styleUrl`, `ExtendedData`, geometry.
      let (title, span) = (record.title, record.span)
      text.raw("<Placemark id=\"\(prefix)\(record.id)\">")
      text.element("name", title.short)
      text.element("description", title.long)
      writeSpan(span.from, span.to, to: &text)
      text.raw("<styleUrl>#\(record.style)</styleUrl><ExtendedData><SchemaData schemaUrl=\"#\(schema)\">")
      fields.write(record, to: &text)
      text.raw("</SchemaData></ExtendedData>")
      if let circle = record.circle(shape) {
        writeCircle(circle, to: &text)
      } else {
        text.raw("<Point><coordinates>\(self.place(place.longitude, place.latitude))</coordinates></Point>")
      }
      text.raw("</Placemark>\n")
      try text.flush(to: write)
    }
    if open != nil { text.raw("</Folder>\n") }
    var hasTracks = false
    try tracks.forEach { segment in
      if !hasTracks { text.raw("<Folder><name>Tracks</name>\n") }
      hasTracks = true
      writeTrack(segment, to: &text)
      try text.flush(to: write)
    }
    if hasTracks { text.raw("</Folder>\n") }
    text.raw("</Document>\n</kml>\n")
    try text.flush(to: write, isLast: true)
  }

  /// Writes everything before the schemas: the declaration, the start of the `Document` and the styles, which are the same in
  /// every document. Names of points are hidden (`LabelStyle` with scale 0), as they would cover the map.
  private static func beginDocument(_ name: String, to text: inout XMLWriter) {
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
      <Style id="\(entry.name)\(isWifi ? Legend.wifiSuffix : "")"><IconStyle><color>ff\(colour)</color>\
      <scale>\(isHollow ? "0.4" : "0.6")</scale></IconStyle><LabelStyle><scale>0</scale></LabelStyle>\
      <LineStyle><color>ff\(colour)</color><width>2</width></LineStyle>\
      <PolyStyle><color>99\(colour)</color>\(isHollow ? "<fill>0</fill>" : "")</PolyStyle></Style>

      """)
  }

  /// Writes the provenance as the data of the document: JSON, with a sentence for people as its title.
  private static func writeProvenance(_ provenance: ProvenanceSource?, to text: inout XMLWriter) throws {
    guard let provenance = try provenance?() else { return }
    text.raw("<ExtendedData><Data name=\"provenance\">")
    text.element("displayName", provenance.line)
    text.element("value", provenance.json.text)
    text.raw("</Data></ExtendedData>\n")
  }

  /// Writes a `Schema`, which gives the values of placemarks their types.
  /// - Parameter name: Also its identifier, to which `schemaUrl` refers.
  private static func writeSchema<Record>(_ name: String, _ fields: [Column<Record>], to text: inout XMLWriter) {
    text.raw("<Schema name=\"\(name)\" id=\"\(name)\">\n")
    for field in fields { text.raw("<SimpleField type=\"\(type(of: field.kind))\" name=\"\(field.name)\"/>\n") }
    text.raw("</Schema>\n")
  }

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

  private static func begin(_ folder: Folder, to text: inout XMLWriter) {
    text.raw("<Folder>")
    text.element("name", folder.name)
    text.element("description", folder.description)
    text.raw("\n")
  }

  /// Values as `SimpleData`. Booleans are 1 or 0, which XML Schema allows: GDAL reads `true` as 0.
  private static func data<Record>(_ columns: [Column<Record>]) -> XMLFields<Record> {
    XMLFields(
      columns, form: { if case .bool(let value) = $0 { value ? 1 : 0 } else { $0 } },
      tags: { ("<SimpleData name=\"\($0)\">", "</SimpleData>") })
  }

  /// A polygon, or a `MultiGeometry` of two for a circle across the antimeridian.
  private static func writeCircle(_ circle: CircleOutline, to text: inout XMLWriter) {
    if circle.rings.count > 1 { text.raw("<MultiGeometry>") }
    for ring in circle.rings {
      text.raw("<Polygon><outerBoundaryIs><LinearRing><coordinates>")
      text.raw(ring.map { place($0.x, $0.y) }.joined(separator: " "))
      text.raw("</coordinates></LinearRing></outerBoundaryIs></Polygon>")
    }
    if circle.rings.count > 1 { text.raw("</MultiGeometry>") }
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
