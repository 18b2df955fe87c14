import Coverage

/// A local projection to metres: x to the east, y to the south. All fences are within its width and height.
struct Projection {
  struct Point {
    let x: Double
    let y: Double
  }

  let width: Double
  let height: Double
  private let north: Double
  private let west: Double
  private let metresPerDegreeNorth: Double
  private let metresPerDegreeEast: Double
  private let margin: Double

  /// `nil` for an empty box.
  /// - Parameters:
  ///   - box: The centres of the fences.
  ///   - largestRadius: The largest radius of a fence in metres.
  init?(box: BoundingBox, largestRadius: Double) {
    guard let (west, east) = box.longitudes else { return nil }
    let (south, north) = (box.south, box.north)
    self.north = north
    self.west = west
    let middle = (north + south) / 2
    metresPerDegreeNorth = Self.metres(from: (middle - 0.0005, west), to: (middle + 0.0005, west)) * 1000
    metresPerDegreeEast = Self.metres(from: (middle, 0), to: (middle, 0.001)) * 1000
    margin = max(largestRadius * 1.5, 30, (north - south) * metresPerDegreeNorth * 0.08)
    width = Self.rounded(Self.degrees(from: west, to: east) * metresPerDegreeEast + 2 * margin)
    height = Self.rounded((north - south) * metresPerDegreeNorth + 2 * margin)
  }

  func point(_ coordinate: Coordinate) -> Point {
    Point(
      x: Self.rounded(Self.degrees(from: west, to: coordinate.longitude) * metresPerDegreeEast + margin),
      y: Self.rounded((north - coordinate.latitude) * metresPerDegreeNorth + margin))
  }

  /// A round length of about a fifth of the map's width.
  var scaleBar: String {
    let lengths = [10.0, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000]
    let length = lengths.last { $0 <= width / 5 } ?? 10
    let (x, y) = (margin / 3, Self.rounded(height - margin / 3))
    let label = length < 1000 ? "\(Int(length)) m" : "\(Int(length / 1000)) km"
    return """
      <line class="scale" x1="\(x)" y1="\(y)" x2="\(x + length)" y2="\(y)"/>
      <text x="\(x)" y="\(Self.rounded(y - width / 150))" font-size="\(Self.rounded(width / 60))">\(label)</text>
      """
  }

  /// Rounded to a decimetre; more digits would only enlarge the page.
  static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  /// The degrees from `west` eastwards to `east`, across the antimeridian if it is between.
  private static func degrees(from west: Double, to east: Double) -> Double {
    east < west ? east - west + 360 : east - west
  }

  private static func metres(from: (Double, Double), to: (Double, Double)) -> Double {
    guard let a = Coordinate(latitude: from.0, longitude: from.1), let b = Coordinate(latitude: to.0, longitude: to.1)
    else { return 1 }
    return max(a.distance(to: b), 1e-6)
  }
}
