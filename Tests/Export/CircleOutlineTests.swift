import Coverage
import Foundation
import Testing

@testable import Export

/// A fence's circle as a polygon.
struct CircleOutlineTests {
  private func outline(_ latitude: Double, _ longitude: Double, _ radius: Double) throws -> [[(x: Double, y: Double)]] {
    CircleOutline(centre: try #require(Coordinate(latitude: latitude, longitude: longitude)), radius: radius).rings
  }

  /// Twice the enclosed area in square degrees; above 0 for a ring that runs counterclockwise.
  private func area(_ ring: [(x: Double, y: Double)]) -> Double {
    zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }
  }

  @Test(
    "when a circle is drawn, then each corner is a radius from the centre, to a thousandth of it",
    arguments: [(48.2, 16.4, 20), (0, 0, 15), (-33.9, 151.2, 150), (69.6, -18.9, 40), (60, 179.9, 1000)]
      as [(Double, Double, Double)])
  func distance(latitude: Double, longitude: Double, radius: Double) throws {
    let ring = try #require(try outline(latitude, longitude, radius).first)
    let centre = try #require(Coordinate(latitude: latitude, longitude: longitude))
    #expect(ring.count == CircleOutline.corners + 1)
    for corner in ring {
      let place = try #require(Coordinate(latitude: corner.y, longitude: corner.x))
      #expect(abs(centre.distance(to: place) - radius) < radius / 1000)
    }
  }

  @Test("when a circle is drawn, then the ring is closed, and runs counterclockwise")
  func ring() throws {
    let ring = try #require(try outline(48.2, 16.4, 20).first)
    #expect(ring.first?.x == ring.last?.x && ring.first?.y == ring.last?.y)
    #expect(area(ring) > 0)
  }

  @Test(
    "when a circle crosses the antimeridian, then it is cut there, and its halves are as large as the whole",
    arguments: [179.9999, -179.9999, 180, -180])
  func antimeridian(longitude: Double) throws {
    let rings = try outline(10, longitude, 50)
    #expect(rings.count == 2)
    for ring in rings {
      #expect(ring.allSatisfy { (-180...180).contains($0.x) })
      #expect(ring.allSatisfy { $0.x > 179 } || ring.allSatisfy { $0.x < -179 })
      #expect(ring.first?.x == ring.last?.x && ring.first?.y == ring.last?.y)
      #expect(area(ring) > 0)
    }
    let whole = area(try #require(try outline(10, 0, 50).first))
    #expect(abs(rings.map(area).reduce(0, +) - whole) < whole / 1e5)
  }

  @Test(
    "when a place or a radius is extreme, then the outline stays on Earth",
    arguments: [(90, 0, 20), (-90, 12, 10_000), (89.9999, 180, 1e9), (0, 0, .nan), (0, 0, .infinity), (0, 0, -5)]
      as [(Double, Double, Double)])
  func extremes(latitude: Double, longitude: Double, radius: Double) throws {
    for corner in try outline(latitude, longitude, radius).joined() {
      #expect(Coordinate(latitude: corner.y, longitude: corner.x) != nil, "\(corner)")
    }
  }

  @Test("when GeoJSON draws circles, then a polygon has one ring, and a cut circle two polygons")
  func geoJSON() throws {
    let text = try ExportFormat.geojson.text([.bare(), .bare(id: 9, longitude: 180)], shape: .circle)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let features = try #require(object["features"] as? [[String: Any]])
    let geometries = features.compactMap { $0["geometry"] as? [String: Any] }
    #expect(geometries.map { $0["type"] as? String } == ["Polygon", "MultiPolygon"])
    #expect((geometries[0]["coordinates"] as? [[[Double]]])?.map(\.count) == [CircleOutline.corners + 1])
    #expect((geometries[1]["coordinates"] as? [[[[Double]]]])?.count == 2)
    let box = try #require(object["bbox"] as? [Double])
    let radius = Fence.sample().radius
    let corners = try (outline(48.2, 16.3, radius) + outline(48.2, 180, radius)).joined()
    let latitudes = corners.map(\.y)
    #expect(box[1] == latitudes.min()?.rounded(7) && box[3] == latitudes.max()?.rounded(7))
    // The second circle lies on the antimeridian, the first east of Greenwich: the box crosses the antimeridian.
    let longitudes = corners.map(\.x)
    #expect(box[0] == longitudes.filter { $0 >= 0 }.min()?.rounded(7))
    #expect(box[2] == longitudes.filter { $0 < 0 }.max()?.rounded(7))
  }
}

extension Double {
  fileprivate func rounded(_ places: Int) -> Double {
    (self * pow(10, Double(places))).rounded() / pow(10, Double(places))
  }
}
