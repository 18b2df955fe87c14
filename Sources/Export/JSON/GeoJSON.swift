import Coverage
import OrderedJSON

/// GeoJSON (RFC 7946): a FeatureCollection with a line for each feature, or the features as a text sequence.
enum GeoJSON {
  /// Writes a FeatureCollection. The bounding box of the geometries comes last, when it is known: RFC 7946 prescribes no order,
  /// and memory does not grow with the fences. It is absent without fences.
  /// - Parameters:
  ///   - shape: A feature is the centre or the circle of its fence.
  ///   - provenance: Becomes a foreign member of the collection (RFC 7946, 6.1), the last one.
  /// - Throws: Errors of the records and of `write`.
  static func export(
    _ records: some FenceRecords, shape: FenceShape, provenance: ProvenanceSource? = nil,
    write: ([UInt8]) throws -> Void
  ) throws {
    var text = JSONWriter()
    text.raw("{\"type\":\"FeatureCollection\",\"features\":[")
    var isFirst = true
    var box = BoundingBox()
    try records.forEach { record in
      let geometry = Geometry(record.fence, shape)
      switch geometry {
      case .point(let centre): box.add(centre)
      case .circle(let outline): box.add(outline)
      }
      text.raw(isFirst ? "\n" : ",\n")
      isFirst = false
      writeFeature(record, geometry, to: &text)
      try text.flush(to: write)
    }
    text.raw("\n]")
    if let corners = box.corners {
      text.key("bbox")
      text.beginArray()
      for corner in corners { text.value(.degrees(corner)) }
      text.endArray()
    }
    try provenance.map { text.member("provenance", try $0().json) }
    text.raw("}\n")
    try text.flush(to: write, isLast: true)
  }

  /// The features of ``export(_:shape:write:)`` as a GeoJSON text sequence (RFC 8142): a record separator before each
  /// feature, a line feed after it. A reader can resume after a truncated text, and needs no end of the collection.
  static func exportSequence(
    _ records: some FenceRecords, shape: FenceShape, write: ([UInt8]) throws -> Void
  ) throws {
    var feature = JSONWriter()
    var text: [UInt8] = []
    try records.forEach { record in
      feature.removeAll()
      writeFeature(record, Geometry(record.fence, shape), to: &feature)
      text.append(recordSeparator)
      text += feature.bytes
      text.append(UInt8(ascii: "\n"))
      guard text.count >= 1 << 16 else { return }
      try write(text)
      text.removeAll(keepingCapacity: true)
    }
    if !text.isEmpty { try write(text) }
  }

  /// RS in ASCII; JSON text sequences (RFC 7464) begin each text with it.
  private static let recordSeparator: UInt8 = 0x1E

  private enum Geometry {
    case point(Coordinate)
    case circle(CircleOutline)

    init(_ fence: Fence, _ shape: FenceShape) {
      switch shape {
      case .point: self = .point(fence.centre)
      case .circle: self = .circle(CircleOutline(centre: fence.centre, radius: fence.radius))
      }
    }
  }

  private static func writeFeature(_ record: FenceRecord, _ geometry: Geometry, to text: inout JSONWriter) {
    text.beginObject()
    text.member("type", "Feature")
    text.member("id", .integer(record.id))
    text.key("geometry")
    text.beginObject()
    switch geometry {
    case .point(let centre):
      text.member("type", "Point")
      text.key("coordinates")
      writePosition(centre.longitude, centre.latitude, to: &text)
    case .circle(let outline): writeCircle(outline, to: &text)
    }
    text.endObject()
    text.key("properties")
    text.beginObject()
    text.members(ColumnList.properties, of: record)
    text.endObject()
    text.endObject()
  }

  /// The members `type` and `coordinates` of a Polygon, or of a MultiPolygon for a circle that the antimeridian cuts.
  private static func writeCircle(_ circle: CircleOutline, to text: inout JSONWriter) {
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
  private static func writePosition(_ longitude: Double, _ latitude: Double, to text: inout JSONWriter) {
    text.beginArray()
    text.value(.degrees(longitude))
    text.value(.degrees(latitude))
    text.endArray()
  }
}
