import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

/// Geometries as blobs of GeoPackage (OGC 12-128r17, 2.1.3), parsed again.
struct GeoPackageGeometryTests {
  /// Reads a blob from its beginning.
  private struct Reader {
    var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func byte() throws -> UInt8 {
      let first = bytes.popFirst()
      return try #require(first)
    }

    mutating func number() throws -> Int {
      try (0..<4).reduce(0) { number, place in number | Int(try byte()) << (8 * place) }
    }

    mutating func double() throws -> Double {
      let bits = try (0..<8).reduce(UInt64(0)) { bits, place in bits | UInt64(try byte()) << (8 * UInt64(place)) }
      return Double(bitPattern: bits)
    }

    /// The byte order and the type of a geometry of WKB.
    mutating func kind() throws -> Int {
      let order = try byte()
      #expect(order == 1, "little-endian")
      return try number()
    }

    mutating func points() throws -> [[Double]] {
      let count = try number()
      return try (0..<count).map { _ in [try double(), try double()] }
    }

    /// GeoPackage's header: magic, version, flags, reference system, envelope.
    mutating func envelope() throws -> [Double] {
      let (magic, version, flags) = (try [byte(), byte()], try byte(), try byte())
      #expect(magic == Array("GP".utf8) && version == 0)
      #expect(flags & 1 == 1, "little-endian")
      #expect(flags & 0b1111_0000 == 0, "a standard geometry that is not empty")
      let system = try number()
      #expect(system == 4326)
      let kind = Int(flags >> 1 & 7)
      #expect(kind <= 1)
      return try (0..<(kind == 1 ? 4 : 0)).map { _ in try double() }
    }
  }

  private func place(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
    try #require(Coordinate(latitude: latitude, longitude: longitude))
  }

  @Test("when a fence is a point, then the blob has longitude and latitude, and no envelope")
  func point() throws {
    let geometry = GeoPackageGeometry(point: try place(48.2082, -16.3738))
    var reader = Reader(geometry.bytes)
    let value1 = try reader.envelope().isEmpty
    #expect(value1)
    let value2 = try reader.kind()
    #expect(value2 == 1)
    let value3 = try [reader.double(), reader.double()]
    #expect(value3 == [-16.3738, 48.2082])
    #expect(reader.bytes.isEmpty)
    #expect(geometry.box.minX == -16.3738 && geometry.box.maxX == -16.3738)
    #expect(geometry.box.minY == 48.2082 && geometry.box.maxY == 48.2082)
  }

  @Test("when a fence is a circle, then the blob is a polygon in a multipolygon, and the envelope contains it exactly")
  func circle() throws {
    let outline = CircleOutline(centre: try place(48.2, 16.4), radius: 20)
    let geometry = GeoPackageGeometry(circle: outline)
    var reader = Reader(geometry.bytes)
    let envelope = try reader.envelope()
    let value4 = try reader.kind()
    #expect(value4 == 6)
    let value5 = try reader.number()
    #expect(value5 == 1)
    let value6 = try reader.kind()
    #expect(value6 == 3)
    let value7 = try reader.number()
    #expect(value7 == 1, "one ring")
    let ring = try reader.points()
    #expect(reader.bytes.isEmpty)
    #expect(ring == outline.rings[0].map { [$0.x, $0.y] })
    #expect(
      envelope == [
        ring.map { $0[0] }.min(), ring.map { $0[0] }.max(), ring.map { $0[1] }.min(), ring.map { $0[1] }.max(),
      ])
    #expect([geometry.box.minX, geometry.box.maxX, geometry.box.minY, geometry.box.maxY] == envelope)
  }

  @Test("when a circle crosses the antimeridian, then the blob has two polygons, one on each side")
  func cutCircle() throws {
    let geometry = GeoPackageGeometry(circle: CircleOutline(centre: try place(0, 180), radius: 50))
    var reader = Reader(geometry.bytes)
    _ = try reader.envelope()
    let value8 = try reader.kind()
    #expect(value8 == 6)
    let value9 = try reader.number()
    #expect(value9 == 2)
    var sides: [Bool] = []
    for _ in 0..<2 {
      let value10 = try reader.kind()
      #expect(value10 == 3)
      let value11 = try reader.number()
      #expect(value11 == 1)
      let ring = try reader.points()
      #expect(ring.first == ring.last && ring.count > 4)
      sides.append(ring.allSatisfy { $0[0] > 0 })
    }
    #expect(Set(sides) == [true, false] && reader.bytes.isEmpty)
    #expect(geometry.box.minX == -180 && geometry.box.maxX == 180)
  }

  @Test("when a track is a line, then the blob has its positions in order", arguments: [2, 3, 1000])
  func line(positions: Int) throws {
    let points = TrackSegment.sample(positions: positions).points
    let geometry = GeoPackageGeometry(line: points)
    var reader = Reader(geometry.bytes)
    let value12 = try reader.envelope()[0]
    #expect(value12 == 16.3)
    let value13 = try reader.kind()
    #expect(value13 == 2)
    let value14 = try reader.points()
    #expect(value14 == points.map { [$0.place.longitude, $0.place.latitude] })
    #expect(reader.bytes.isEmpty)
  }
}
