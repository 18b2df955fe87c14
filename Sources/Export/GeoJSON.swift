import Coverage
import OrderedJSON

/// A FeatureCollection (RFC 7946), a line a feature, in constant memory: each fence is the point of its centre, and the radius
/// is one of its properties.
enum GeoJSON {
  static func export(_ records: some Sequence<FenceRecord>, write: (String) throws -> Void) rethrows {
    try write("{\"type\":\"FeatureCollection\",\"features\":[")
    var separator = "\n"
    for record in records {
      try write(separator + feature(record).text)
      separator = ",\n"
    }
    try write("\n]}\n")
  }

  private static func feature(_ record: FenceRecord) -> JSON {
    .object([
      "type": "Feature",
      "geometry": .object(["type": "Point", "coordinates": .array(position(record.fence.centre))]),
      "properties": .object(record.properties),
    ])
  }

  /// Longitude first, with 7 decimals: a centimetre.
  private static func position(_ coordinate: Coordinate) -> [JSON] {
    [coordinate.longitude, coordinate.latitude].map { JSON.rounded($0, places: 7) ?? .number($0) }
  }
}
