import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// Which tiles of a base map a page gets.
struct BasemapClipTests {
  private static let vienna = Coordinate(latitude: 48.21, longitude: 16.37)

  private func cover(_ places: [Coordinate?]) -> TileCover {
    var cover = TileCover()
    for case let place? in places { cover.add(place) }
    return cover
  }

  private func page(_ cover: TileCover, _ basemap: Basemap, limit: Int = BasemapClip.mostBytes) throws -> (
    text: [UInt8], tiles: [String: Int], data: [String], damaged: Int
  ) {
    let clip = try BasemapClip(basemap, cover, limit: limit)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(clip.text)) as? [String: Any])
    return (
      clip.text, try #require(object["tiles"] as? [String: Int]), try #require(object["data"] as? [String]),
      clip.damaged
    )
  }

  /// A file with all tiles that `cover` can ask for.
  private func basemap(
    _ folder: TemporaryFolder, _ cover: TileCover, zooms: ClosedRange<Int>, content: (TilePlace) -> [UInt8]
  ) throws -> Basemap {
    var tiles: [TilePlace: [UInt8]] = [:]
    for zoom in zooms { for place in cover.whole(zoom: zoom) ?? [] { tiles[place] = content(place) } }
    let path = folder.path + "/map.mbtiles"
    try BasemapFiles.mbtiles(path, tiles)
    return try Basemap(path: path)
  }

  @Test("when a map has one place, then its tiles are those within 500 m of it, at each zoom")
  func onePlace() throws {
    let cover = cover([Self.vienna])
    let centre = try #require(TilePlace(zoom: 14, column: 8937, row: 5681))
    let tiles = try #require(cover.whole(zoom: 14))
    #expect(tiles.contains(centre) && (1...4).contains(tiles.count))
    for zoom in 0...TilePlace.deepest {
      let (whole, near) = (cover.whole(zoom: zoom), cover.near(zoom: zoom))
      if let whole, let near, zoom <= 17 { #expect(Set(whole).isSubset(of: near), "zoom \(zoom)") }
      #expect(whole != nil || zoom > 17)
    }
    #expect(self.cover([]).whole(zoom: 3)?.isEmpty == true && self.cover([]).zoomOfWhole == nil)
  }

  @Test("when places lie on both sides of 180 degrees, then the tiles are narrow and of both sides")
  func antimeridian() throws {
    let cover = cover([Coordinate(latitude: -17, longitude: 179.999), Coordinate(latitude: -17, longitude: -179.999)])
    let tiles = try #require(cover.whole(zoom: 10))
    #expect(Set(tiles.map(\.column)) == [0, 1023])
    #expect(Set(tiles).isSubset(of: cover.near(zoom: 10) ?? []))
  }

  @Test("when places are at the poles, around the Earth or no places, then tiles are of the map, and nothing traps")
  func extremes() throws {
    let places = [90, -90, 85.06, 0].flatMap { latitude in
      [180.0, -180, 0].map { Coordinate(latitude: latitude, longitude: $0) }
    }
    for zoom in 0...TilePlace.deepest {
      _ = (cover(places).whole(zoom: zoom), cover(places).near(zoom: zoom))
    }
    #expect(cover(places).whole(zoom: 0)?.count == 1)
  }

  @Test("when all tiles fit, then the page has them from the overview to the greatest zoom")
  func whole() throws {
    let folder = try TemporaryFolder()
    let cover = cover([Self.vienna, Coordinate(latitude: 48.25, longitude: 16.45)])
    let map = try basemap(folder, cover, zooms: 5...15) { BasemapFiles.png() + Array("\($0)".utf8) }
    let page = try page(cover, map)
    let expected = (8...15).flatMap { cover.whole(zoom: $0) ?? [] }
    #expect(page.tiles.count == page.data.count)
    let keys = Set(page.tiles.keys)
    #expect(expected.allSatisfy { keys.contains("\($0.zoom)/\($0.column)/\($0.row)") })
    #expect(page.damaged == 0)
  }

  @Test(
    "when not all tiles fit, then the limit holds: long ways lose first what is far from them, then the greatest zooms")
  func limits() throws {
    let folder = try TemporaryFolder()
    let way = (0..<60).map { Coordinate(latitude: 48 + Double($0) * 0.01, longitude: 16 + Double($0) * 0.01) }
    let cover = cover(way)
    let map = try basemap(folder, cover, zooms: 5...14) { place in
      BasemapFiles.png(filling: 200) + Array("\(place)".utf8)
    }
    let all = try page(cover, map)
    let count = { (tiles: [String: Int], zoom: Int) in tiles.keys.count { $0.hasPrefix("\(zoom)/") } }
    for limit in stride(from: all.text.count, to: 6000, by: -all.text.count / 5) {
      let page = try page(cover, map, limit: limit)
      #expect(page.text.count <= limit, "\(limit)")
    }
    let narrow = try page(cover, map, limit: all.text.count * 2 / 3)
    #expect(count(narrow.tiles, 14) == cover.near(zoom: 14)?.count && count(narrow.tiles, 14) < count(all.tiles, 14))
    #expect(try BasemapClip(map, cover, limit: 100).isEmpty)
  }

  @Test("when tiles are equal or damaged, then the page has one content for all, and none for those")
  func sharing() throws {
    let folder = try TemporaryFolder()
    let cover = cover([Self.vienna])
    let map = try basemap(folder, cover, zooms: 0...16) { $0.zoom == 16 ? [1, 2, 3] : BasemapFiles.png() }
    let page = try page(cover, map)
    #expect(page.data.count == 1 && page.tiles.count > 4 && page.damaged == cover.whole(zoom: 16)?.count)
  }

  @Test(
    "when a map is exported with a base map, then the page has the tiles, the attribution as text, and no other policy")
  func export() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("var L = {}", to: "leaflet.js")
    _ = try folder.write(".leaflet {}", to: "leaflet.css")
    let record = FenceRecord.whole()
    let (cover, path) = (cover([record.fence.centre]), folder.path + "/map.mbtiles")
    let tiles = (cover.whole(zoom: 14) ?? []).map { ($0, BasemapFiles.png()) }
    try BasemapFiles.mbtiles(
      path, Dictionary(uniqueKeysWithValues: tiles),
      metadata: ["format": "png", "attribution": "</script><script>alert(1)</script>&lt;img src=x>"])
    var (text, complaints) = ([UInt8](), [String]())
    func export(_ record: FenceRecord) throws -> String {
      text = []
      try ExportFormat.html.export(
        [record], map: MapOptions(leaflet: folder.path, basemap: try Basemap(path: path)),
        complain: { complaints.append($0) }
      ) { text += $0 }
      return String(decoding: text, as: UTF8.self)
    }
    let page = try export(record)
    #expect(page.contains("id=\"basemap\">{\"is_vector\":false,\"attribution\":\"alert(1)\\u003cimg src=x>\""))
    #expect(page.contains("img-src data:;") && !page.contains("connect-src") && complaints.isEmpty)
    let far = try export(.bare())
    #expect(!far.contains("id=\"basemap\">") && complaints == ["\(path) has no tile of the area of the fences"])
  }

  @Test("when a drive has a track, then the page has its places as differences, without those of a device at rest")
  func track() throws {
    let start = WallTime(microseconds: 1_795_168_800_000_000)
    let places = [(48.0, 16.0), (48.0, 16.0), (48.00001, 16.0), (48.001, 16.001), (48.0010001, 16.001)]
    let points = places.compactMap { latitude, longitude in
      TrackPoint(time: start, fix: Fix(coordinate: Coordinate(latitude: latitude, longitude: longitude)))
    }
    let text = MapTrack.text(TrackSegment(session: 3, link: "a<b", points: points))
    #expect(
      String(decoding: text, as: UTF8.self)
        == #"{"session":3,"link":"a\u003cb","points":[48000000,16000000,1000,1000,0,0]}"#)
  }
}
