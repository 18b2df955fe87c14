import Coverage
import OrderedJSON

/// A FeatureCollection (RFC 7946), a line a feature, in constant memory: each fence is the point of its centre, and the radius
/// is one of its properties. The bounding box comes last, when it is known.
enum GeoJSON {
  static func export(_ records: some FenceRecords, write: (String) throws -> Void) throws {
    try write("{\"type\":\"FeatureCollection\",\"features\":[")
    var separator = "\n"
    var box = BoundingBox()
    try records.forEach { record in
      box.add(record.fence.centre)
      try write(separator + feature(record).text)
      separator = ",\n"
    }
    let members = box.corners.map { ",\"bbox\":" + JSON.array($0.map(FenceRecord.degrees)).text } ?? ""
    try write("\n]\(members)}\n")
  }

  private static func feature(_ record: FenceRecord) -> JSON {
    .object([
      "type": "Feature",
      "id": .integer(record.id),
      "geometry": .object(["type": "Point", "coordinates": .array(position(record.fence.centre))]),
      "properties": .object(record.properties),
    ])
  }

  /// Longitude first.
  private static func position(_ coordinate: Coordinate) -> [JSON] {
    [coordinate.longitude, coordinate.latitude].map(FenceRecord.degrees)
  }
}
