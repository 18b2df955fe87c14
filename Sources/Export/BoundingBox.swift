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
  /// Whether an area around a pole covers all longitudes.
  private var isAroundEarth = false

  mutating func add(_ place: Coordinate) { add(longitude: place.longitude, latitude: place.latitude) }

  mutating func add(_ outline: CircleOutline) {
    for ring in outline.rings { for corner in ring { add(longitude: corner.x, latitude: corner.y) } }
    isAroundEarth = isAroundEarth || outline.isAroundPole
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

  /// The longitudes from west to east; `east` is less than `west` for a box across the antimeridian (RFC 7946, 5.2). All of them
  /// around a pole (5.3).
  var longitudes: (west: Double, east: Double)? {
    if isAroundEarth { return (-180, 180) }
    guard let western, let eastern else { return (western ?? eastern).map { ($0.lowerBound, $0.upperBound) } }
    // The narrower one of the box across Greenwich and the box across the antimeridian.
    let gap = eastern.lowerBound - western.upperBound
    let isOverAntimeridian = 360 - gap < eastern.upperBound - western.lowerBound
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
