import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The small maps of the worst stretches.
@Suite struct StretchMapTests {
  private func stretch(_ fences: [Fence]) -> Stretch {
    var stretch = Stretch(.of(fences[0]))
    for fence in fences.dropFirst() { stretch.add(fence, metres: 100) }
    return stretch
  }

  private func map(_ fences: [Fence]) -> String { StretchMap(stretch: stretch(fences)).svg() }

  private struct Circle {
    let look: Substring
    let x: Double
    let y: Double
    let radius: Double
  }

  private func circles(_ svg: String) throws -> [Circle] {
    try svg.matches(of: /<circle class="(\w+)" cx="([-0-9.]+)" cy="([-0-9.]+)" r="([0-9.]+)"\/>/).map { match in
      Circle(
        look: match.1, x: try #require(Double(match.2)), y: try #require(Double(match.3)),
        radius: try #require(Double(match.4)))
    }
  }

  @Test("when a stretch leads north-east, then the map has the first fence at the bottom left, and all circles inside")
  func northUp() throws {
    let svg = map(
      (0..<6).map { .sample(number: $0, latitude: 48 + Double($0) * 0.001, longitude: 16 + Double($0) * 0.002) })
    let circles = try circles(svg)
    #expect(circles.count == 6)
    #expect(circles.map(\.x) == circles.map(\.x).sorted() && circles.map(\.y) == circles.map(\.y).sorted(by: >))
    for circle in circles {
      #expect(circle.x - circle.radius >= 0 && circle.x + circle.radius <= 240)
      #expect(circle.y - circle.radius >= 0 && circle.y + circle.radius <= 130)
    }
  }

  @Test("when fences are 111 m apart, then the bar of the scale and the circles have the same scale as their distance")
  func scale() throws {
    let svg = map((0..<4).map { .sample(number: $0, latitude: 48 + Double($0) * 0.001, longitude: 16, radius: 40) })
    let circles = try circles(svg)
    let unit = (circles[0].y - circles[1].y) / 111.195
    #expect(abs(circles[0].radius - 40 * unit) < 0.11)
    let bar = try #require(svg.firstMatch(of: /d="M6 124h([0-9.]+)"\/><text x="6" y="119">([0-9]+) m</))
    let (length, metres) = (try #require(Double(bar.1)), try #require(Double(bar.2)))
    #expect(abs(length - metres * unit) < 0.11)
  }

  @Test("when a mark is near the east edge or the top, then its number is inside of the map")
  func edges() throws {
    let places = try [(48.0, 16.0), (48.01, 16.2)].map {
      try #require(Coordinate(latitude: $0.0, longitude: $0.1))
    }
    let svg = SketchMap(
      marks: places.map { .init(place: $0, radius: 1, look: "good") }, labels: [(places[0], "1"), (places[1], "12")],
      size: (400, 60), description: "D"
    ).svg()
    #expect(svg.contains(/dx="5" dy="-4">1</) && svg.contains(/dx="-5" text-anchor="end" dy="12">12</))
  }

  @Test("when a stretch crosses the antimeridian, then its fences are neighbours on the map")
  func antimeridian() throws {
    let svg = map([
      .sample(number: 0, latitude: 0, longitude: 179.9995), .sample(number: 1, latitude: 0, longitude: -179.9995),
    ])
    let circles = try circles(svg)
    #expect(circles[0].x < circles[1].x && circles[1].x - circles[0].x < 240)
    #expect(circles[0].radius > 2)
  }

  @Test("when fences were answered fast, slowly, not at all or not measured, then each has its own class")
  func looks() throws {
    let fences: [Fence] = [
      .sample(number: 0, pings: 10, answered: 10, rttSumNanoseconds: 1_199_999_990),
      .sample(number: 1, pings: 10, answered: 10, rttSumNanoseconds: 1_200_000_000),
      .sample(number: 2, pings: 10, answered: 0, rttSumNanoseconds: 0),
      .sample(number: 3, pings: 0, answered: 0, rttSumNanoseconds: 0),
    ]
    #expect(try circles(map(fences)).map(\.look) == ["good", "slow", "lost", "none"])
    #expect(map(fences).contains("aria-label=\"Map of 4 fences, north up; 1 of them without an answer.\""))
  }

  @Test("when fences are at one place, or a radius is impossible, then the map has no impossible numbers")
  func still() throws {
    for radius in [0, 20, 1e12, .infinity] {
      let svg = map((0..<3).map { .sample(number: $0, radius: radius) })
      let circles = try circles(svg)
      #expect(circles.count == 3 && Set(circles.map(\.x)).count == 1)
      #expect(!svg.contains("nan") && !svg.contains("inf"))
    }
  }

  @Test("when a stretch is at a pole, then its map has no impossible numbers")
  func pole() throws {
    let svg = map([.sample(number: 0, latitude: 90, longitude: 0), .sample(number: 1, latitude: 90, longitude: 180)])
    #expect(try circles(svg).count == 2 && !svg.contains("nan"))
  }

  @Test("when labels of an overview would hide each other, then they are one")
  func labels() throws {
    let places = try [48.0, 48.0001, 48.9].map { try #require(Coordinate(latitude: $0, longitude: 16)) }
    let svg = SketchMap(
      marks: places.map { .init(place: $0, radius: 1, look: "good") },
      labels: places.enumerated().map { ($1, "\($0 + 1)") }, description: "D"
    ).svg()
    #expect(svg.matches(of: /class="mark"[^>]*>([^<]*)</).map { String($0.1) } == ["1, 2", "3"])
  }
}
