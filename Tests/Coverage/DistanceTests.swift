import Testing

@testable import Coverage

/// `Coordinate.distance` against geodesics of WGS 84 (Karney's algorithm, computed with GeographicLib 2 in Python).
@Suite struct DistanceTests {

  @Test(arguments: Geodesics.upToTenKilometres)
  func `when two places are up to ten kilometres apart, then the distance is right to a tenth of a millimetre`(
    geodesic: [Double]
  ) throws {
    let from = try #require(Coordinate(latitude: geodesic[0], longitude: geodesic[1]))
    let to = try #require(Coordinate(latitude: geodesic[2], longitude: geodesic[3]))
    #expect(abs(from.distance(to: to) - geodesic[4]) < 1e-4)
    #expect(from.distance(to: to) == to.distance(to: from))
  }

  @Test func `when two places are the same, then their distance is zero`() throws {
    let place = try #require(Coordinate(latitude: 48.2, longitude: 16.3))
    #expect(place.distance(to: place) == 0)
    let pole = try #require(Coordinate(latitude: 90, longitude: -20))
    let samePole = try #require(Coordinate(latitude: 90, longitude: 77))
    #expect(pole.distance(to: samePole) < 1e-6)
    let dateLine = try #require(Coordinate(latitude: 10, longitude: 180))
    let sameLine = try #require(Coordinate(latitude: 10, longitude: -180))
    #expect(dateLine.distance(to: sameLine) < 1e-6)
  }

  @Test(arguments: [
    [38.7223, -9.1393, 59.9343, 30.3351, 3_623_867.787], [40.7128, -74.006, 34.0522, -118.2437, 3_944_422.231],
  ])
  func `when two places are a continent apart, then the distance is right to one percent`(geodesic: [Double]) throws {
    let from = try #require(Coordinate(latitude: geodesic[0], longitude: geodesic[1]))
    let to = try #require(Coordinate(latitude: geodesic[2], longitude: geodesic[3]))
    #expect(abs(from.distance(to: to) / geodesic[4] - 1) < 0.01)
  }

  @Test(arguments: [
    (90.000_001, 0.0), (-90.000_001, 0), (0, 180.000_001), (0, -180.000_001), (.nan, 0), (0, .nan), (.infinity, 0),
    (0, -.infinity),
  ])
  func `when latitude or longitude is out of range, then there is no coordinate`(latitude: Double, longitude: Double) {
    #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
  }

  @Test func `when distances on the tests' own ground are measured, then they match Pythagoras`() throws {
    for (north, east) in [(30.0, 40.0), (-300, 400), (0, 5), (-5, 0)] {
      let centre = try #require(Ground.equator.place(north: 0, east: 0))
      let place = try #require(Ground.equator.place(north: north, east: east))
      #expect(abs(centre.distance(to: place) - (north * north + east * east).squareRoot()) < 1e-5)
    }
  }
}
