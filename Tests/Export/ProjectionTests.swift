import Coverage
import TestSupport
import Testing

@testable import Export

struct ProjectionTests {
  private func projection(_ fences: [Fence]) throws -> Projection {
    let totals = fences.reduce(into: MapTotals()) { $0.add($1) }
    return try #require(Projection(box: totals.box, largestRadius: totals.radius))
  }

  @Test("when two fences lie a known distance apart, then they do so on the map")
  func scale() throws {
    let fences = [Fence.sample(), Fence.sample(number: 1, latitude: 48.2182)]
    let projection = try projection(fences)
    let south = projection.point(fences[0].centre)
    let north = projection.point(fences[1].centre)
    let metres = fences[0].centre.distance(to: fences[1].centre)
    #expect(abs((south.y - north.y) - metres) < 1)
    #expect(south.x == north.x)
  }

  @Test("when fences lie on both sides of the antimeridian, then the map is as wide as their distance")
  func antimeridian() throws {
    let fences = [Fence.sample(longitude: 179.99), Fence.sample(number: 1, longitude: -179.99)]
    let projection = try projection(fences)
    let (west, east) = (projection.point(fences[0].centre), projection.point(fences[1].centre))
    #expect(abs((east.x - west.x) - fences[0].centre.distance(to: fences[1].centre)) < 1)
  }

  @Test("when there is no fence, then there is no projection")
  func empty() {
    #expect(Projection(box: BoundingBox(), largestRadius: 0) == nil)
  }

  @Test("when fences are drawn, then each circle is within the map", arguments: [0.0, 48.2, -80, 89.9])
  func withinTheMap(latitude: Double) throws {
    let fences = (0..<20).map {
      Fence.sample(number: $0, latitude: latitude + Double($0) / 1000, longitude: 16 + Double($0 % 7) / 500, radius: 35)
    }
    let projection = try projection(fences)
    for fence in fences {
      let point = projection.point(fence.centre)
      #expect(point.x >= fence.radius && point.x <= projection.width - fence.radius)
      #expect(point.y >= fence.radius && point.y <= projection.height - fence.radius)
    }
  }

  @Test("when all fences are at one place, then the map is as large as they need")
  func onePlace() throws {
    let projection = try projection([.sample(radius: 100), .sample(number: 1, radius: 20)])
    #expect(projection.width == 300 && projection.height == 300)
    #expect(projection.scaleBar.contains(">50 m</text>"))
  }

  @Test("when the map is a hundred kilometres wide, then its scale is in kilometres")
  func scaleBar() throws {
    let projection = try projection([.sample(longitude: 16), .sample(number: 1, longitude: 17.35)])
    #expect((100_000...120_000).contains(projection.width))
    #expect(projection.scaleBar.contains(">20 km</text>"))
  }
}
