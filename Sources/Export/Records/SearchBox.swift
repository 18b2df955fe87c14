import Coverage

/// A box on the ground, as `--bbox` gives it: `WEST,SOUTH,EAST,NORTH` in degrees, as in RFC 7946, 5.
public struct SearchBox: Hashable, Sendable {
  private let west: Double
  private let south: Double
  private let east: Double
  private let north: Double

  /// `nil` unless the text has four numbers in their ranges, and south is not above north. Spaces are ignored. West
  /// may be greater than east: such a box lies across the antimeridian.
  public init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0.filter { $0 != " " })
    }
    guard parts.count == 4, let west = parts[0], let south = parts[1], let east = parts[2], let north = parts[3],
      Coordinate(latitude: south, longitude: west) != nil, Coordinate(latitude: north, longitude: east) != nil,
      south <= north
    else { return nil }
    (self.west, self.south, self.east, self.north) = (west, south, east, north)
  }

  /// Whether `place` is inside, or on the edge. The longitudes 180 and -180 are the same place; at a pole, all of them are.
  func contains(_ place: Coordinate) -> Bool {
    guard (south...north).contains(place.latitude) else { return false }
    if abs(place.latitude) == 90 { return true }
    let longitudes = abs(place.longitude) == 180 ? [-180, 180] : [place.longitude]
    return longitudes.contains { west <= east ? (west...east).contains($0) : $0 >= west || $0 <= east }
  }
}
