import Coverage
import OrderedJSON
import Store

/// GeoJSON (RFC 7946): a FeatureCollection with a line for each feature, or the features as a text sequence.
struct GeoJSON<Record> {
  /// Where a feature is; a test without a place has none (RFC 7946, 3.2).
  enum Geometry {
    case point(Coordinate)
    case circle(CircleOutline)
  }

  private let properties: [Column<Record>]
  /// Whether the collection has the bounding box of its geometries.
  private let hasBox: Bool
  private let number: (Record) -> Int64
  private let geometry: (Record) -> Geometry?

  /// Writes a FeatureCollection. The bounding box of the geometries comes last, when it is known: RFC 7946 prescribes no order,
  /// and memory does not grow with the fences. It is absent without fences.
  /// - Parameters:
  ///   - provenance: Becomes a foreign member of the collection (RFC 7946, 6.1), the last one.
  ///   - forEach: Calls its argument with each record.
  /// - Throws: Errors of the records and of `write`.
  func export(
    provenance: ProvenanceSource? = nil, write: ([UInt8]) throws -> Void,
    forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var text = JSONWriter()
    text.raw("{\"type\":\"FeatureCollection\",\"features\":[")
    var isFirst = true
    var box = BoundingBox()
    try forEach { record in
      let geometry = geometry(record)
      switch geometry {
      case .point(let centre) where hasBox: box.add(centre)
      case .circle(let outline) where hasBox: box.add(outline)
      default: break
      }
      text.raw(isFirst ? "\n" : ",\n")
      isFirst = false
      writeFeature(record, geometry, to: &text)
      try text.flush(to: write)
    }
    text.raw("\n]")
    if let corners = box.corners { text.member("bbox", .array(corners.map(JSON.degrees))) }
    try provenance.map { text.member("provenance", try $0().json) }
    text.raw("}\n")
    try text.flush(to: write, isLast: true)
  }

  /// The features of ``export(provenance:write:forEach:)`` as a GeoJSON text sequence (RFC 8142): a record separator (JSON text sequences,
  /// RFC 7464, begin each text with it) before each feature, a line feed after it. A reader can resume after a truncated text, and needs no
  /// end of the collection.
  func exportSequence(
    write: ([UInt8]) throws -> Void, forEach: @escaping ((Record) throws -> Void) throws -> Void
  ) throws {
    var feature = JSONWriter()
    var text: [UInt8] = []
    try forEach { record in
      feature.removeAll()
      writeFeature(record, geometry(record), to: &feature)
      text += [0x1E] + feature.bytes + [UInt8(ascii: "\n")]
      guard text.count >= 1 << 16 else { return }
      try write(text)
      text.removeAll(keepingCapacity: true)
    }
    if !text.isEmpty { try write(text) }
  }

  private func writeFeature(_ record: Record, _ geometry: Geometry?, to text: inout JSONWriter) {
    text.beginObject()
    text.member("type", "Feature")
    text.member("id", .integer(number(record)))
    text.key("geometry")
    switch geometry {
    case .point(let centre):
      text.beginObject()
      text.member("type", "Point")
      text.key("coordinates")
      writePosition(centre.longitude, centre.latitude, to: &text)
      text.endObject()
    case .circle(let outline):
      text.beginObject()
      writeCircle(outline, to: &text)
      text.endObject()
    case nil: text.value(.null)
    }
    text.key("properties")
    text.beginObject()
    text.members(properties, of: record)
    text.endObject()
    text.endObject()
  }

  /// The members `type` and `coordinates` of a Polygon, or of a MultiPolygon for a circle that the antimeridian cuts.
  private func writeCircle(_ circle: CircleOutline, to text: inout JSONWriter) {
    let isCut = circle.rings.count > 1
    text.member("type", isCut ? "MultiPolygon" : "Polygon")
    text.key("coordinates")
    if isCut { text.beginArray() }
    for ring in circle.rings {
      text.beginArray()
      text.beginArray()
      for corner in ring { writePosition(corner.x, corner.y, to: &text) }
      text.endArray()
      text.endArray()
    }
    if isCut { text.endArray() }
  }

  /// A position: longitude first (RFC 7946, 3.1.1), without altitude.
  private func writePosition(_ longitude: Double, _ latitude: Double, to text: inout JSONWriter) {
    text.beginArray()
    text.value(.degrees(longitude))
    text.value(.degrees(latitude))
    text.endArray()
  }
}

extension GeoJSON<FenceRecord> {
  /// Fences, each as its centre or its circle.
  init(_ shape: FenceShape) {
    self.init(properties: ColumnList.properties, hasBox: true, number: \.id) { record in
      switch shape {
      case .point: .point(record.fence.centre)
      case .circle: .circle(CircleOutline(centre: record.fence.centre, radius: record.fence.radius))
      }
    }
  }
}

extension GeoJSON<StoredSpeedTest> {
  /// Speed tests, each as a point where it began.
  static var speedTests: GeoJSON {
    GeoJSON(properties: SpeedTestColumns.properties, hasBox: false, number: \.id) { $0.place.map(Geometry.point) }
  }
}
