import Coverage

/// The bounding box of positions that are added one by one: the member `bbox` of a GeoJSON collection (RFC 7946, 5).
struct BoundingBox {
  /// Degrees; with ``north``, above it (an empty range) until the first position.
  private(set) var south = Double.infinity
  private(set) var north = -Double.infinity
  /// The ranges of negative and of other longitudes. They are kept apart, so that a drive across the antimeridian gets a
  /// narrow box.
  private var western: ClosedRange<Double>?
  private var eastern: ClosedRange<Double>?

  mutating func add(_ place: Coordinate) { add(longitude: place.longitude, latitude: place.latitude) }

  mutating func add(_ outline: CircleOutline) {
    for ring in outline.rings { for corner in ring { add(longitude: corner.x, latitude: corner.y) } }
  }

  private mutating func add(longitude: Double, latitude: Double) {
    south = min(south, latitude)
    north = max(north, latitude)
    if longitude < 0 {
      western = Self.widened(western, to: longitude)
    } else {
      eastern = Self.widened(eastern, to: longitude)
    }
  }

  /// The longitudes from west to east; `east` is less than `west` for a box across the antimeridian (RFC 7946, 5.2).
  var longitudes: (west: Double, east: Double)? {
    guard let western, let eastern else { return (western ?? eastern).map { ($0.lowerBound, $0.upperBound) } }
    // The box that does not cross the antimeridian would be wider than half the Earth.
    let isOverAntimeridian = eastern.upperBound - western.lowerBound > 180
    return isOverAntimeridian
      ? (eastern.lowerBound, western.upperBound) : (western.lowerBound, eastern.upperBound)
  }

  /// West, south, east, north in degrees; `nil` without a position.
  var corners: [Double]? { longitudes.map { [$0.west, south, $0.east, north] } }

  private static func widened(_ range: ClosedRange<Double>?, to value: Double) -> ClosedRange<Double> {
    guard let range else { return value...value }
    return min(range.lowerBound, value)...max(range.upperBound, value)
  }
}
