import Foundation
import TestSupport
import Testing

@testable import Export

/// The readers of base maps: good files, and files that lie.
struct BasemapTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func place(_ zoom: Int, _ column: Int, _ row: Int) throws -> TilePlace {
    try #require(TilePlace(zoom: zoom, column: column, row: row))
  }

  /// Tiles of zooms 0 to 6 with contents of their own.
  private static func tiles() throws -> [TilePlace: [UInt8]] {
    var tiles: [TilePlace: [UInt8]] = [:]
    for zoom in 0...6 {
      for column in 0..<min(1 << zoom, 9) {
        for row in 0..<min(1 << zoom, 9) {
          tiles[try place(zoom, column, row)] = BasemapFiles.png() + Array("\(zoom)/\(column)/\(row)".utf8)
        }
      }
    }
    return tiles
  }

  private func pmtiles(_ bytes: [UInt8], _ name: String = "map.pmtiles") throws -> Basemap {
    let path = folder.path + "/" + name
    try Data(bytes).write(to: URL(filePath: path))
    return try Basemap(path: path)
  }

  private func reason(_ make: () throws -> Basemap) -> String {
    do {
      _ = try make()
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "when a tile has a place, then its number is that of the PMTiles specification",
    arguments: [
      (0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2), (1, 1, 1, 3), (1, 1, 0, 4), (2, 0, 0, 5), (12, 3423, 1763, 19_078_479),
    ])
  func numbers(zoom: Int, column: Int, row: Int, number: UInt64) throws {
    #expect(try Self.place(zoom, column, row).number == number)
  }

  @Test("when numbers are of no tile, then there is none")
  func noPlace() {
    for (zoom, column, row) in [(-1, 0, 0), (23, 0, 0), (3, 8, 0), (3, 0, -1), (.max, .max, .max), (0, 0, 1)] {
      #expect(TilePlace(zoom: zoom, column: column, row: row) == nil)
    }
  }

  @Test("when a PMTiles file is read, then each tile comes back, with leaves and without, packed and not")
  func goodPMTiles() throws {
    let tiles = try Self.tiles()
    for (leafSize, inside) in [(0, UInt8(2)), (7, 2), (7, 1), (0, 1)] {
      let map = try pmtiles(BasemapFiles.PMTiles(inside: inside, zooms: (0, 6)).bytes(tiles, leafSize: leafSize))
      for (place, content) in tiles { #expect(try map.tile(place) == content) }
      #expect(try map.tile(Self.place(6, 63, 63)) == nil && map.attribution == "© Example" && !map.archive.isVector)
      #expect(try map.archive.zooms == 0...6 && map.tile(zoom: 99, column: -1, row: 1) == nil)
    }
  }

  @Test("when a PMTiles file is cut, then the tiles behind its end are damaged ones, and the others are there")
  func cut() throws {
    let tiles = try Self.tiles()
    let bytes = BasemapFiles.PMTiles(inside: 2, zooms: (0, 6)).bytes(tiles)
    let map = try pmtiles(Array(bytes.prefix(bytes.count - 1000)))
    let read = try tiles.keys.map { try map.tile($0) }
    #expect(read.contains([]) && !read.contains(nil) && read.filter { $0?.isEmpty == false }.count > 9)
    #expect(try map.tile(Self.place(6, 63, 63)) == nil)
  }

  @Test("when tiles of a PMTiles file are a run, then each of them has its content, and the next one none")
  func run() throws {
    let content = BasemapFiles.png()
    let root = BasemapFiles.directory([[5, 3, UInt64(content.count), 0]])
    let map = try pmtiles(
      BasemapFiles.PMTiles(inside: 1, root: root).bytes([try Self.place(0, 0, 0): content]))
    // Numbers 5 to 7 on the curve of zoom 2, then 8.
    for (column, row) in [(0, 0), (1, 0), (1, 1)] { #expect(try map.tile(Self.place(2, column, row)) == content) }
    #expect(try map.tile(Self.place(2, 0, 1)) == nil)
  }

  @Test("when a PMTiles file cannot be read, then one line says why")
  func unreadable() throws {
    let tile = [try Self.place(0, 0, 0): BasemapFiles.png()]
    func said(_ file: BasemapFiles.PMTiles) -> String { reason { try pmtiles(file.bytes(tile)) } }
    #expect(said(.init(version: 2)).hasSuffix("map.pmtiles cannot be used: it is PMTiles version 2; version 3 is read"))
    #expect(said(.init(inside: 4)).hasSuffix("it is compressed by zstd; make it with gzip"))
    #expect(said(.init(ofTiles: 3, type: 1)).hasSuffix("it is compressed by brotli; make it with gzip"))
    #expect(said(.init(type: 5)).contains("its tiles are of avif"))
    #expect(said(.init(type: 200)).contains("an unknown kind"))
    #expect(said(.init(zooms: (9, 3))).contains("zooms 9 to 3"))
    #expect(said(.init(zooms: (0, 200))).contains("zooms 0 to 200"))
    #expect(said(.init(root: [1, 2, 3])).contains("root directory is damaged"))
    #expect(reason { try pmtiles(Array("PMTiles\u{3}".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0]) }.contains("it is cut"))
    #expect(reason { try pmtiles(Array("no map".utf8)) }.contains("neither PMTiles nor MBTiles"))
    #expect(reason { try pmtiles([]) }.contains("neither PMTiles nor MBTiles"))
    #expect(reason { try Basemap(path: folder.path) }.contains("no regular file"))
    #expect(reason { try Basemap(path: folder.path + "/none") }.contains("No such file"))
  }

  @Test("when the numbers of a PMTiles file are wrong, then nothing outside of the file is read, and nothing traps")
  func wrongNumbers() throws {
    let content = BasemapFiles.png()
    let tile = [try Self.place(0, 0, 0): content]
    for number: UInt64 in [.max, .max / 2, 1 << 40, 0, 126] {
      for section in 0..<8 {
        let file = BasemapFiles.PMTiles(sections: { numbers in
          var numbers = numbers
          numbers[section] = number
          return numbers
        })
        let map = try? pmtiles(file.bytes(tile))
        _ = try? map?.tile(Self.place(0, 0, 0))
      }
    }
    for entry: [UInt64] in [
      [0, 1, .max, 0], [0, 1, 40, .max - 1], [0, .max, .max - 1, 7], [0, 0, 40, 0], [0, 0, .max, 1 << 62],
    ] {
      let root = BasemapFiles.directory([entry])
      let map = try? pmtiles(BasemapFiles.PMTiles(inside: 1, root: root).bytes(tile))
      #expect((try? map?.tile(Self.place(0, 0, 0))) ?? [] != content, "\(entry)")
    }
  }

  @Test("when a directory is cut, unordered or too long, then it is none")
  func directories() {
    let good = BasemapFiles.directory([[0, 1, 9, 0], [4, 2, 9, 9], [90, 0, 9, 18]])
    #expect(PMTilesDirectory(good)?.entry(of: 5)?.offset == 9)
    #expect(PMTilesDirectory(good)?.entry(of: 6) == nil && PMTilesDirectory(good)?.entry(of: 1000)?.run == 0)
    for count in 0..<good.count { #expect(PMTilesDirectory(Array(good[..<count])) == nil, "\(count)") }
    let many = BasemapFiles.varint(.max)
    #expect(PMTilesDirectory(many + good) == nil, "more entries than bytes")
    #expect(PMTilesDirectory([2, 5, 0, 1, 1, 1, 1, 1, 1]) == nil, "a number twice")
    #expect(PMTilesDirectory([1, 0, 1, 9, 0]) == nil, "behind the entry before the first one")
    #expect(PMTilesDirectory([2] + BasemapFiles.varint(.max) + [1, 1, 1, 1, 1, 1, 1]) == nil, "numbers beyond 64 bits")
    #expect(PMTilesDirectory([UInt8](repeating: 0xFF, count: 40)) == nil, "a number without an end")
  }

  @Test("when bytes of a PMTiles file are damaged, then reading it never traps")
  func damaged() throws {
    let tiles = try Self.tiles().filter { $0.key.zoom < 3 }
    let good = BasemapFiles.PMTiles(zooms: (0, 6)).bytes(tiles, leafSize: 5)
    var chance = SystemRandomNumberGenerator()
    for round in 0..<100 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &chance) {
        // Half of the damage is in the header and the directories.
        let end = round % 2 == 0 ? min(400, bytes.count) : bytes.count
        bytes[Int.random(in: 7..<end, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
      }
      if round % 5 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count - 16, using: &chance)) }
      guard let map = try? pmtiles(bytes) else { continue }
      for place in tiles.keys { _ = try? map.tile(place) }
    }
  }

  @Test("when an MBTiles file is read, then rows count from the south, and zooms are those of its tiles")
  func goodMBTiles() throws {
    let path = folder.path + "/map.mbtiles"
    try BasemapFiles.mbtiles(
      path, try Self.tiles(),
      metadata: ["format": "png", "attribution": "<a href=\"x\">© Example</a>\n &amp; &lt;others&gt;", "maxzoom": "99"])
    let map = try Basemap(path: path)
    for (place, content) in try Self.tiles() { #expect(try map.tile(place) == content) }
    #expect(map.archive.zooms == 0...6 && !map.archive.isVector)
    #expect(map.attribution == "© Example & <others>")
  }

  @Test("when an MBTiles file does not name its format, then its first tile says it")
  func formats() throws {
    let vector = BasemapFiles.gzip([0x1A, 0])
    for (name, content, metadata, isVector) in [
      ("a", vector, [:], true), ("b", BasemapFiles.png(), [:], false), ("c", vector, ["format": "pbf"], true),
    ] {
      try BasemapFiles.mbtiles(folder.path + "/" + name, [try Self.place(0, 0, 0): content], metadata: metadata)
      let map = try Basemap(path: folder.path + "/" + name)
      #expect(try map.archive.isVector == isVector && map.tile(zoom: 0, column: 0, row: 0) == content)
    }
    try BasemapFiles.mbtiles(folder.path + "/d", [try Self.place(0, 0, 0): vector], metadata: ["format": "tiff"])
    #expect(reason { try Basemap(path: folder.path + "/d") }.contains("its format is tiff"))
  }

  @Test("when the values of an MBTiles file have other types, then it is refused or has no tile, and nothing traps")
  func otherTypes() throws {
    let schemas = [
      "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data); INSERT INTO tiles VALUES ('x', 'y', 'z', 1)",
      "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data); INSERT INTO tiles VALUES (0, 0, 0, 17)",
      "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data); INSERT INTO tiles VALUES (9e99, 0, 0, 17)",
      "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data); INSERT INTO tiles VALUES (-5, 0, 0, NULL)",
      "CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data)", "CREATE TABLE tiles (x)", "SELECT 1",
    ]
    for (number, schema) in schemas.enumerated() {
      let path = folder.path + "/\(number)"
      try BasemapFiles.mbtiles(path, [:], schema: schema)
      let map = try? Basemap(path: path)
      let tile = try? map?.tile(zoom: 0, column: 0, row: 0)
      #expect(tile == nil)
    }
  }

  @Test("when a view of an MBTiles file never ends, then the look-up does")
  func endless() throws {
    let path = folder.path + "/endless"
    try BasemapFiles.mbtiles(
      path, [:],
      schema: """
        CREATE VIEW tiles AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
        SELECT 0 AS zoom_level, i AS tile_column, 0 AS tile_row, x'00' AS tile_data FROM n WHERE i < 0
        """)
    #expect(reason { try Basemap(path: path) }.contains("takes too long"))
  }

  @Test("when a tile is too large, unfolds to too much or is an image of another kind, then it is left out")
  func badTiles() throws {
    let bomb = BasemapFiles.gzip([UInt8](repeating: 0, count: TileContent.mostBytes + 1))
    #expect(bomb.count < 100_000 && !TileContent.isGood(bomb, isVector: true))
    #expect(TileContent.isGood(BasemapFiles.gzip([UInt8](repeating: 0, count: TileContent.mostBytes)), isVector: true))
    #expect(!TileContent.isGood([0x1F, 0x8B, 1, 2, 3], isVector: true) && !TileContent.isGood([], isVector: true))
    for (width, height) in [(UInt32(1025), UInt32(256)), (256, .max), (0, 256)] {
      #expect(!TileContent.isGood(BasemapFiles.png(width, height), isVector: false))
    }
    #expect(!TileContent.isGood(Array("<svg onload=alert(1)>".utf8), isVector: false))
    #expect(!TileContent.isGood(Array(BasemapFiles.png().prefix(22)), isVector: false))
    let path = folder.path + "/large"
    let content = BasemapFiles.png(filling: TileContent.mostBytes + 1)
    try BasemapFiles.mbtiles(path, [try Self.place(0, 0, 0): content])
    #expect(try Basemap(path: path).tile(Self.place(0, 0, 0)) == [])
    #expect(try Basemap(path: path).tile(zoom: 0, column: 0, row: 0) == nil)
  }

  @Test("when an image is JPEG or WebP, then its size is known; when it is cut, then not")
  func images() throws {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xFF, 0xC0, 0, 11, 8, 2, 0, 1, 0, 1, 1, 0x11, 0]
    let frame = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)
    let webp: [[UInt8]] = [
      frame + Array("VP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0xFF, 1, 0],
      frame + Array("VP8L".utf8) + [9, 0, 0, 0, 0x2F, 0xFF, 0xC0, 0x7F, 0, 0, 0, 0, 0, 0],
      frame + Array("VP8 ".utf8) + [9, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0, 1, 0, 2],
    ]
    for image in [jpeg] + webp {
      let size = try #require(TileContent.imageSize(image))
      #expect(size == (256, 512))
      for count in 0..<(image == jpeg ? 18 : 30) {
        #expect(TileContent.imageSize(Array(image[..<count])) == nil, "\(count)")
      }
    }
    // A length that leads nowhere.
    #expect(TileContent.imageSize([0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0]) == nil)
    #expect(TileContent.imageSize([0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 1000)) == nil)
  }
}
