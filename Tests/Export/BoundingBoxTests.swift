import Coverage
import Testing

@testable import Export

struct BoundingBoxTests {
  private func box(_ places: [(Double, Double)]) throws -> BoundingBox {
    try places.reduce(into: BoundingBox()) {
      $0.add(try #require(Coordinate(latitude: $1.0, longitude: $1.1)))
    }
  }

  @Test("when there is no position, then there are no corners")
  func empty() {
    #expect(BoundingBox().corners == nil)
  }

  @Test("when there is one position, then both corners are at it")
  func one() throws {
    #expect(try box([(48, 16)]).corners == [16, 48, 16, 48])
    #expect(try box([(-48, -16)]).corners == [-16, -48, -16, -48])
  }

  @Test("when positions lie on both sides of the prime meridian, then the box crosses it")
  func primeMeridian() throws {
    #expect(try box([(51.4, 0.2), (51.6, -0.3)]).corners == [-0.3, 51.4, 0.2, 51.6])
  }

  @Test("when positions lie on both sides of the antimeridian, then the box crosses it")
  func boxOverAntimeridian() {
    var box = BoundingBox()
    for (latitude, longitude) in [(-17.0, 179.5), (-18.0, -179.25), (-16.5, 178.0)] {
      if let place = Coordinate(latitude: latitude, longitude: longitude) { box.add(place) }
    }
    #expect(box.corners == [178, -18, -179.25, -16.5])
  }

  @Test("when positions come in any order, then the box is the same")
  func order() throws {
    let places = [(10.0, 3.0), (-20, -170), (5, 175), (0, -1)]
    #expect(try box([(0, -10), (0, 10), (0, 100), (0, -100)]).corners == [-100, 0, 100, 0], "the narrower box")
    #expect(try box(places).corners == box(places.reversed()).corners)
  }
}
