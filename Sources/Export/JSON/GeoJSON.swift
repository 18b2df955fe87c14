import Coverage
import OrderedJSON

/// GeoJSON (RFC 7946): a FeatureCollection with a line for each feature, or the features as a text sequence.
struct GeoJSON<Record: Feature> {
  let properties: [Column<Record>]
  var shape = FenceShape.point
  /// Whether the collection has the bounding box of its geometries.
  let hasBox: Bool

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
      let circle = record.circle(shape)
      if hasBox, let place = record.place {
        if let circle { box.add(circle) } else { box.add(place) }
      }
      text.raw(isFirst ? "\n" : ",\n")
      isFirst = false
      writeFeature(record, circle, to: &text)
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
    var text = JSONWriter()
    try forEach { record in
      text.raw("\u{1E}")
      writeFeature(record, record.circle(shape), to: &text)
      text.raw("\n")
      try text.flush(to: write)
    }
    // Without a record, nothing is written.
    try text.flush(to: write, isLast: !text.bytes.isEmpty)
  }

  private func writeFeature(_ record: Record, _ circle: CircleOutline?, to text: inout JSONWriter) {
    text.beginObject()
    text.member("type", "Feature")
    text.member("id", .integer(record.id))
    text.key("geometry")
    if let place = record.place {
      text.beginObject()
      if let circle {
        writeCircle(circle, to: &text)
      } else {
        text.member("type", "Point")
        text.key("coordinates")
        writePosition(place.longitude, place.latitude, to: &text)
      }
      text.endObject()
    } else {
      // A test without a place (RFC 7946, 3.2).
      text.value(.null)
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
