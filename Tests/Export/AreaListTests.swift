import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// `report --areas`: which places are in which area, and what a bad file says.
@Suite struct AreaListTests {
  private func list(_ features: String...) throws -> AreaList {
    try AreaList(Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8))
  }

  private func feature(_ name: String, _ type: String = "Polygon", _ coordinates: String) -> String {
    #"{"type":"Feature","properties":{"category":"\#(name)","name":"x"},"geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
  }

  private func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> String {
    "[[\(west),\(south)],[\(east),\(south)],[\(east),\(north)],[\(west),\(north)],[\(west),\(south)]]"
  }

  private func name(_ list: AreaList, _ latitude: Double, _ longitude: Double) throws -> String {
    list.name(of: try #require(Coordinate(latitude: latitude, longitude: longitude)))
  }

  @Test("when areas overlap, then a place belongs to the first one, and a place in none is elsewhere")
  func first() throws {
    let list = try list(
      feature("city", "Polygon", "[\(box(16, 48, 17, 49))]"), feature("rail", "Polygon", "[\(box(16.5, 48, 18, 49))]"))
    #expect(list.names == ["city", "rail", "elsewhere"])
    #expect(try name(list, 48.5, 16.7) == "city" && name(list, 48.5, 17.5) == "rail")
    #expect(try name(list, 48.5, 18.5) == "elsewhere" && name(list, -48.5, 16.5) == "elsewhere")
  }

  @Test("when a polygon has a hole, then the hole is not in the area, also if the hole turns the same way round")
  func hole() throws {
    let list = try list(feature("city", "Polygon", "[\(box(16, 48, 17, 49)),\(box(16.4, 48.4, 16.6, 48.6))]"))
    #expect(try name(list, 48.5, 16.5) == "elsewhere" && name(list, 48.5, 16.3) == "city")
  }

  @Test("when a MultiPolygon has several parts, then all of them are the area")
  func parts() throws {
    let list = try list(feature("city", "MultiPolygon", "[[\(box(16, 48, 17, 49))],[\(box(20, 48, 21, 49))]]"))
    #expect(try name(list, 48.5, 16.5) == "city" && name(list, 48.5, 20.5) == "city")
    #expect(try name(list, 48.5, 18) == "elsewhere")
  }

  @Test(
    "when a ring leads over the antimeridian, cut or not, with longitudes of either sign, then both sides are inside")
  func antimeridian() throws {
    for coordinates in [
      "[\(box(179, -1, -179, 1)),\(box(-179.6, -0.1, -179.4, 0.1))]",
      "[\(box(-179, -1, 179, 1)),\(box(179.4, -0.1, 179.6, 0.1))]",
    ] {
      let list = try list(feature("sea", "Polygon", coordinates))
      #expect(try name(list, 0.5, 179.5) == "sea" && name(list, 0.5, -179.5) == "sea")
      #expect(try name(list, 0.5, 178) == "elsewhere" && name(list, 0.5, 0) == "elsewhere")
    }
    let cut = try list(
      feature("sea", "MultiPolygon", "[[\(box(179, -1, 180, 1))],[\(box(-180, -1, -179, 1))]]"))
    #expect(try name(cut, 0, 179.5) == "sea" && name(cut, 0, -179.5) == "sea" && name(cut, 0, 0) == "elsewhere")
  }

  @Test(
    "when a ring has all longitudes, then it is the whole band, and a straight side over the antimeridian has no extent"
  )
  func band() throws {
    let list = try list(feature("north", "Polygon", "[\(box(-180, 60, 180, 90))]"))
    for longitude in [-180.0, -90, 0, 90, 179.9] { #expect(try name(list, 70, longitude) == "north") }
    #expect(try name(list, 50, 0) == "elsewhere")
    let side = try self.list(
      feature("side", "Polygon", "[[[170,0],[-170,0],[-170,10],[-170,20],[170,20],[170,0]]]"))
    #expect(try name(side, 5, 175) == "side" && name(side, 15, -175) == "side" && name(side, 5, 0) == "elsewhere")
  }

  @Test("when a feature has no category, then its name counts, and one without a geometry is left out")
  func names() throws {
    let list = try list(
      #"{"type":"Feature","properties":{"category":7,"name":" A <b>\n "},"geometry":{"type":"Polygon","coordinates":[\#(box(0, 0, 1, 1))]}}"#,
      #"{"type":"Feature","properties":null,"geometry":null}"#)
    #expect(list.names == ["A <b>", "elsewhere"])
  }

  @Test("when a category is blank, then the name counts; names that begin alike stay two areas")
  func longNames() throws {
    let long = String(repeating: "n", count: 60)
    let list = try list(
      #"{"type":"Feature","properties":{"category":" ","name":"A"},"geometry":{"type":"Polygon","coordinates":[\#(box(0, 0, 1, 1))]}}"#,
      feature(long + "x", "Polygon", "[\(box(2, 0, 3, 1))]"), feature(long + "y", "Polygon", "[\(box(4, 0, 5, 1))]"),
      feature(long + "x", "Polygon", "[\(box(6, 0, 7, 1))]"))
    #expect(list.names == ["A", long + "...", long + "... (2)", "elsewhere"])
    #expect(try name(list, 0.5, 4.5) == long + "... (2)" && name(list, 0.5, 6.5) == long + "...")
  }

  @Test(
    "when a file cannot be used, then there is one line with the reason",
    arguments: [
      ("", "it is no JSON"), ("[1]", "it is no GeoJSON"),
      (#"{"type":"FeatureCollection","features":[]}"#, "no Polygon"),
      (#"{"type":"Topology"}"#, "feature 1 is a Topology"),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}"#,
        "is a LineString"
      ),
      (
        #"{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}"#,
        "has no text"
      ),
      (
        #"{"type":"Feature","properties":{"name":" elsewhere"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}"#,
        "rename it"
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[1820000,6140000],[1,0],[1,1],[0,0]]]}}"#,
        "WGS 84"
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0]]]}}"#,
        "fewer than four"
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[0],[1,0],[1,1],[0,0]]]}}"#,
        "outside"
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[]}}"#,
        "fewer than four"
      ),
      (
        #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"Polygon","coordinates":[[[1e999,0],[1,0],[1,1],[0,0]]]}}"#,
        "a.json"
      ),
    ])
  func bad(text: String, reason: String) throws {
    let failure = #expect(throws: AreaList.Failure.self) { try AreaList(geoJSON: Data(text.utf8), path: "a.json") }
    let line = try #require(failure).description
    #expect(line.hasPrefix("a.json: ") && line.contains(reason) && !line.contains("\n"), "\(line)")
  }

  @Test(
    "when a file has as many categories, polygons or positions as allowed, then it is read; with one more it is refused",
    arguments: [0, 1, 2])
  func limits(kind: Int) throws {
    let square = "[" + box(0, 0, 1, 1) + "]"
    func list(_ count: Int) throws -> AreaList {
      switch kind {
      case 0: try AreaList(collection((0..<count).map { feature("area \($0)", "Polygon", square) }))
      case 1:
        try AreaList(
          collection([
            feature("a", "MultiPolygon", "[\(Array(repeating: square, count: count).joined(separator: ","))]")
          ]))
      default:
        try AreaList(
          collection([
            feature("a", "Polygon", "[[\(Array(repeating: "[0,0]", count: count).joined(separator: ","))]]")
          ]))
      }
    }
    let most = [AreaList.most.categories, AreaList.most.polygons, AreaList.most.positions][kind]
    // A polygon has five positions: their limit is reached with exactly as many polygons.
    #expect(try list(most).names.count == (kind == 0 ? most : 1) + 1)
    let failure = #expect(throws: AreaList.Failure.self) { _ = try list(most + 1) }
    #expect(failure?.description.hasPrefix("more than \(AreaList.most.categories) categories") == true)
  }

  private func collection(_ features: [String]) -> Data {
    Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8)
  }

  @Test("when bytes of a file are damaged, then it is read or refused, and no number traps", arguments: 0..<8)
  func damage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let words = [
      "1e308", "-1e308", "1e-320", "180", "-180", "90", "null", "[", "]", "\"", "-0.0", "9223372036854775808",
    ]
    let whole = Array(
      #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"MultiPolygon","coordinates":[[\#("[" + box(179, -1, -179, 1) + "]")]]}}"#
        .utf8)
    let place = try #require(Coordinate(latitude: 0.5, longitude: 180))
    for _ in 0..<200 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        let word = words.randomElement(using: &random) ?? ""
        bytes.replaceSubrange(at..<min(bytes.count, at + Int.random(in: 0...5, using: &random)), with: word.utf8)
      }
      _ = try? AreaList(Data(bytes)).name(of: place)
    }
  }
}
