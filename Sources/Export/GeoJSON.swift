import Coverage
import OrderedJSON

/// A FeatureCollection (RFC 7946), a line a feature, in constant memory: each fence is the point of its centre, and the radius
/// is one of its properties. The bounding box comes last, when it is known.
enum GeoJSON {
  static func export(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    var text = JSONWriter()
    text.raw("{\"type\":\"FeatureCollection\",\"features\":[")
    var isFirst = true
    var box = BoundingBox()
    try records.forEach { record in
      box.add(record.fence.centre)
      text.raw(isFirst ? "\n" : ",\n")
      isFirst = false
      writeFeature(record, to: &text)
      try text.flush(to: write)
    }
    text.raw("\n]")
    if let corners = box.corners {
      text.key("bbox")
      text.beginArray()
      for corner in corners { text.value(FenceRecord.degrees(corner)) }
      text.endArray()
    }
    text.raw("}\n")
    try text.flush(to: write, isLast: true)
  }

  /// The features of ``export(_:write:)`` as a GeoJSON text sequence (RFC 8142): a record separator before each feature, a line feed
  /// after it. A reader can resume after a truncated text, and needs no end of the collection.
  static func exportSequence(_ records: some FenceRecords, write: ([UInt8]) throws -> Void) throws {
    var feature = JSONWriter()
    var text: [UInt8] = []
    try records.forEach { record in
      feature.removeAll()
      writeFeature(record, to: &feature)
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

  private static func writeFeature(_ record: FenceRecord, to text: inout JSONWriter) {
    text.beginObject()
    text.member("type", "Feature")
    text.member("id", .integer(record.id))
    text.key("geometry")
    text.beginObject()
    text.member("type", "Point")
    text.key("coordinates")
    text.beginArray()
    // Longitude first.
    text.value(FenceRecord.degrees(record.fence.centre.longitude))
    text.value(FenceRecord.degrees(record.fence.centre.latitude))
    text.endArray()
    text.endObject()
    text.key("properties")
    text.beginObject()
    record.writeProperties(to: &text)
    text.endObject()
    text.endObject()
  }
}
