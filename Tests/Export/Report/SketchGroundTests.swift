import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// The user's base map below the maps of a report.
struct SketchGroundTests {
  private static let marks = [(48.0, 16.0), (48.02, 16.05)].compactMap { latitude, longitude in
    Coordinate(latitude: latitude, longitude: longitude).map { SketchMark(place: $0, radius: 20, look: "good") }
  }

  private static let map = SketchMap(marks: marks, description: "")

  private static func basemap(
    _ folder: TemporaryFolder, _ type: UInt8, zooms: ClosedRange<Int> = 0...14, _ content: (TilePlace) -> [UInt8]?
  ) throws -> Basemap {
    var (cover, tiles) = (TileCover(), [TilePlace: [UInt8]]())
    for mark in marks { cover.add(mark.place) }
    for zoom in zooms { for place in cover.whole(zoom: zoom) ?? [] { tiles[place] = content(place) } }
    var file = BasemapFiles.PMTiles()
    (file.type, file.zooms) = (type, (UInt8(zooms.lowerBound), UInt8(zooms.upperBound)))
    try Data(file.bytes(tiles)).write(to: URL(filePath: folder.file("map.pmtiles")))
    return try Basemap(path: folder.file("map.pmtiles"))
  }

  @Test("when a base map has images, then each covers its tile, and the deepest zoom with few tiles is used")
  func images() throws {
    let ground = SketchGround(try Self.basemap(TemporaryFolder(), 2) { _ in BasemapFiles.png() })
    let svg = Self.map.svg(over: ground)
    let images = try svg.matches(of: /<image x="([-0-9.]+)" y="([-0-9.]+)" width="([0-9.]+)" height="([0-9.]+)"/).map {
      [try #require(Double($0.1)), try #require(Double($0.2)), try #require(Double($0.3)), try #require(Double($0.4))]
    }
    #expect((4...16).contains(images.count) && svg.contains("href=\"data:image/png;base64,iVBORw0KGgo"))
    // Together they cover the drawing without a gap.
    let left = images.map { $0[0] }.min() ?? 1
    let bottom = images.map { $0[1] + $0[3] }.max() ?? 0
    #expect(left <= 0 && bottom >= 130)
    #expect(abs(images.reduce(0) { $0 + $1[2] * $1[3] } - Double(images.count) * images[0][2] * images[0][3]) < 20)
    #expect(ground.complaints == [])
  }

  @Test("when a place is on a tile's corner, then the tile is drawn from where the place is drawn")
  func position() throws {
    let frame = try #require(SketchFrame(Self.marks, size: (240, 130)))
    let tile = try #require(TilePlace(zoom: 14, column: 8920, row: 5690))
    let corner = frame.place(tile, 0, 0)
    // 8920 / 2^14 · 360 - 180, and the latitude of Web Mercator's row by its inverse.
    let place = try #require(Coordinate(latitude: 48.0780789435, longitude: 15.99609375))
    let expected = frame.place(place)
    #expect(abs(corner.x - expected.x) < 0.05 && abs(corner.y - expected.y) < 0.05, "\(corner) \(expected)")
  }

  @Test(
    "when a base map has vector tiles, then areas and lines are drawn in their look, and others are not",
    arguments: [
      ("water", 3, [:], "water"), ("roads", 2, ["kind": "major_road"], "road"),
      ("transportation", 2, ["class": "motorway"], "motorway"), ("landuse", 3, ["kind": "forest"], "green"),
      ("building", 3, [:], nil), ("roads", 2, ["kind": "minor_road"], nil), ("places", 1, [:], nil),
    ] as [(String, UInt64, [String: String], String?)])
  func vectors(layer: String, kind: UInt64, tags: [String: String], look: String?) throws {
    let tile = BasemapFiles.gzip(BasemapFiles.vectorTile(layer, kind: kind, tags: tags))
    let ground = SketchGround(try Self.basemap(TemporaryFolder(), 1) { _ in tile })
    let svg = Self.map.svg(over: ground)
    let found = svg.matches(of: /<path class="(\w+)" d="(M[^"]*)"/).map { String($0.1) }.filter { $0 != "bar" }
    #expect(found == (look.map { [$0] } ?? []))
    #expect(ground.complaints.isEmpty == (look != nil))
  }

  @Test("when a drawing shows some hundred metres, then it has the small roads, too")
  func streets() throws {
    let tile = BasemapFiles.vectorTile("roads", kind: 2, tags: ["kind": "minor_road"])
    let basemap = try Self.basemap(TemporaryFolder(), 1) { _ in tile }
    let near = SketchMap(marks: [Self.marks[0]], description: "").svg(over: SketchGround(basemap))
    #expect(near.contains("<path class=\"street\" d=\"M"))
  }

  @Test("when tiles are damaged in any place, then nothing traps, and the report says how many are left out")
  func damaged() throws {
    let good = BasemapFiles.vectorTile("water", kind: 3, tags: ["class": "lake"])
    for at in good.indices {
      for byte in [0, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = good
        bytes[at] = byte
        guard var tile = VectorTile(bytes) else { continue }
        for layer in tile.layers { for feature in layer.features { _ = tile.parts(of: feature, in: layer) } }
      }
      #expect(VectorTile(Array(good[..<at])) == nil || at == 0)
    }
    let ground = SketchGround(try Self.basemap(TemporaryFolder(), 1, zooms: 10...10) { _ in Array(good.dropLast(3)) })
    #expect(!Self.map.svg(over: ground).contains("class=\"ground\""))
    #expect(ground.complaints.contains { $0.contains("damaged or too large: ") })
  }

  @Test("when a report has a ground, then its page may show images, has the attribution, and loads nothing")
  func page() throws {
    let ground = SketchGround(try Self.basemap(TemporaryFolder(), 2, zooms: 0...10) { _ in BasemapFiles.png() })
    let page = ReportPage(ReportPageTests.report(), over: ground).html
    #expect(page.contains("img-src data:\"") && page.contains("Ground: © Example."))
    #expect(page.ranges(of: "<g class=\"ground\">").count >= 2)
    #expect(!ReportPage(ReportPageTests.report()).html.contains("img-src"))
  }
}
