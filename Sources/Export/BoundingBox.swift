import Coverage

/// The bounding box of positions that are added one by one.
struct BoundingBox {
  private(set) var south = Double.infinity
  private(set) var north = -Double.infinity
  /// The ranges of negative and of other longitudes: a box across the antimeridian has both.
  private var western: ClosedRange<Double>?
  private var eastern: ClosedRange<Double>?

  mutating func add(_ place: Coordinate) {
    south = min(south, place.latitude)
    north = max(north, place.latitude)
    if place.longitude < 0 {
      western = Self.widened(western, to: place.longitude)
    } else {
      eastern = Self.widened(eastern, to: place.longitude)
    }
  }

  /// The longitudes from west to east; `east` is less than `west` for a box across the antimeridian (RFC 7946, 5.2).
  var longitudes: (west: Double, east: Double)? {
    guard let western, let eastern else { return (western ?? eastern).map { ($0.lowerBound, $0.upperBound) } }
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
