import Coverage
import Foundation

@testable import Export

/// The files of the user that lie under a map or a report: base maps (PMTiles and MBTiles) and areas (GeoJSON).
enum GroundFiles: FuzzTarget {
  static var seeds: [[UInt8]] {
    let tiles = Dictionary(
      places.map { ($0, BasemapFiles.png() + Array("\($0.zoom)/\($0.column)".utf8)) }, uniquingKeysWith: { $1 })
    let vector = BasemapFiles.PMTiles(inside: 1, type: 1)
    let (lake, road) = (
      BasemapFiles.vectorTile("water", kind: 3),
      BasemapFiles.vectorTile("roads", kind: 2, tags: ["kind": "major_road"])
    )
    // The tiles begin near the greatest number, far behind the end of the file.
    let far = BasemapFiles.PMTiles(inside: 1, sections: { $0.prefix(6) + [.max - 4096, $0[7]] })
    return [
      BasemapFiles.PMTiles().bytes(tiles), BasemapFiles.PMTiles(inside: 1).bytes(tiles, leafSize: 3),
      vector.bytes(tiles.mapValues(BasemapFiles.gzip), leafSize: 5), far.bytes(tiles),
      vector.bytes(tiles.mapValues { _ in lake + road }),
      mbtiles(tiles),
    ] + areas.map { Array($0.utf8) }
  }

  private static let areas = [
    #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"category":"city"},"geometry":"#
      + #"{"type":"Polygon","coordinates":[[[16,48],[17,48],[17,49],[16,48]],[[16.4,48.1],[16.5,48.1],[16.5,48.2],[16.4,48.1]]]}},"#
      + #"{"type":"Feature","properties":null,"geometry":null}]}"#,
    #"{"type":"Feature","properties":{"name":"sea"},"geometry":{"type":"MultiPolygon","coordinates":"#
      + #"[[[[179,-1],[-179,-1],[-179,1],[179,1],[179,-1]]],[[[-180,60],[180,60],[180,90],[-180,90]]]]}}"#,
  ]

  static let words = [
    "PMTiles\u{03}", "SQLite format 3\u{00}", "tiles", "metadata", "\u{1F}", "\"type\":", "\"features\":",
    "\"geometry\":",
    "\"coordinates\":", "MultiPolygon", "[[[", "1e308", "-180", "9223372036854775807", "null",
  ]

  private static let path = "/dev/shm/fuzz-ground-\(getpid())"

  /// The tiles of a place from the whole Earth to the deepest zoom, and their neighbours.
  private static let places = (0...TilePlace.deepest).flatMap { zoom in
    (0..<2).compactMap { TilePlace(zoom: zoom, column: (1 << zoom) * 545 / 1000 + $0, row: (1 << zoom) * 347 / 1000) }
  }

  /// Within the tiles of ``places``.
  private static let marks = [(48.15, 16.21), (48.16, 16.22)].compactMap { latitude, longitude in
    Coordinate(latitude: latitude, longitude: longitude).map { SketchMark(place: $0, radius: 20, look: "good") }
  }

  static func run(_ input: [UInt8]) {
    if input.first == UInt8(ascii: "{") {
      guard let list = try? AreaList(geoJSON: Data(input), path: path) else { return }
      for longitude in [-180.0, 16.45, 179.5] {
        if let place = Coordinate(latitude: 48.15, longitude: longitude) { _ = list.name(of: place) }
      }
      return
    }
    guard FileManager.default.createFile(atPath: path, contents: Data(input)), let basemap = try? Basemap(path: path)
    else { return }
    _ = (basemap.attribution, basemap.members)
    for place in places {
      _ = try? basemap.tile(zoom: place.zoom, column: place.column, row: place.row)
    }
    _ = SketchMap(marks: marks, description: "").svg(over: SketchGround(basemap))
  }

  private static func mbtiles(_ tiles: [TilePlace: [UInt8]]) -> [UInt8] {
    let file = path + ".mbtiles"
    defer { unlink(file) }
    guard (try? BasemapFiles.mbtiles(file, tiles)) != nil else { return [] }
    return FileManager.default.contents(atPath: file).map([UInt8].init) ?? []
  }
}
