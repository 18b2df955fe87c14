import Coverage
import OrderedJSON

/// A FeatureCollection (RFC 7946), a line a feature, in constant memory. The bounding box of the centres comes last, when it is known.
enum GeoJSON {
  static func export(
    _ records: some FenceRecords, shape: FenceShape, write: ([UInt8]) throws -> Void
  ) throws {
    var text = JSONWriter()
    text.raw("{\"type\":\"FeatureCollection\",\"features\":[")
    var isFirst = true
    var box = BoundingBox()
    try records.forEach { record in
      box.add(record.fence.centre)
      text.raw(isFirst ? "\n" : ",\n")
      isFirst = false
      writeFeature(record, shape, to: &text)
      try text.flush(to: write)
    }
    text.raw("\n]")
    if let corners = box.corners {
      text.key("bbox")
      text.beginArray()
      for corner in corners { text.value(.degrees(corner)) }
      text.endArray()
    }
    text.raw("}\n")
    try text.flush(to: write, isLast: true)
  }

  /// The features of ``export(_:shape:write:)`` as a GeoJSON text sequence (RFC 8142): a record separator before each feature, a line feed
  /// after it. A reader can resume after a truncated text, and needs no end of the collection.
  static func exportSequence(
    _ records: some FenceRecords, shape: FenceShape, write: ([UInt8]) throws -> Void
  ) throws {
    var feature = JSONWriter()
    var text: [UInt8] = []
    try records.forEach { record in
      feature.removeAll()
      writeFeature(record, shape, to: &feature)
      text.append(recordSeparator)
      text += feature.bytes
      text.append(UInt8(ascii: "\n"))
      guard text.count >= 1 << 16 else { return }
      try write(text)
      text.removeAll(keepingCapacity: true)
    }
    if !text.isEmpty { try write(text) }
  }

  private static let recordSeparator: UInt8 = 0x1E

  private static func writeFeature(_ record: FenceRecord, _ shape: FenceShape, to text: inout JSONWriter) {
    text.beginObject()
    text.member("type", "Feature")
    text.member("id", .integer(record.id))
    text.key("geometry")
    text.beginObject()
    switch shape {
    case .point:
      text.member("type", "Point")
      text.key("coordinates")
      writePosition(record.fence.centre.longitude, record.fence.centre.latitude, to: &text)
    case .circle:
      writeCircle(CircleOutline(centre: record.fence.centre, radius: record.fence.radius), to: &text)
    }
    text.endObject()
    text.key("properties")
    text.beginObject()
    text.members(ColumnList.properties, of: record)
    text.endObject()
    text.endObject()
  }

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

  /// Longitude first.
  private static func writePosition(_ longitude: Double, _ latitude: Double, to text: inout JSONWriter) {
    text.beginArray()
    text.value(.degrees(longitude))
    text.value(.degrees(latitude))
    text.endArray()
  }
}
