import Coverage

/// A geometry as a blob of GeoPackage (OGC 12-128r17, 2.1.3): a header with the envelope, then WKB, both little-endian.
struct GeoPackageGeometry {
  private(set) var bytes: [UInt8] = []
  /// The least and greatest longitude (x) and latitude (y) in degrees: the envelope, and the rectangle for the R-tree.
  let box: (minX: Double, maxX: Double, minY: Double, maxY: Double)

  /// The codes of geometries in WKB (OGC 06-103r4).
  private enum Kind: UInt32 {
    case point = 1
    case lineString = 2
    case polygon = 3
    case multiPolygon = 6
  }

  init(point: Coordinate) {
    let (x, y) = (point.longitude, point.latitude)
    box = (x, x, y, y)
    // A point is its own envelope.
    appendHeader(envelope: nil)
    append(.point)
    append(x)
    append(y)
  }

  /// A multipolygon, also for one ring: a layer has one type of geometry.
  init(circle: CircleOutline) {
    let corners = circle.rings.joined()
    box = Self.box(corners.lazy.map(\.x), corners.lazy.map(\.y))
    appendHeader(envelope: box)
    append(.multiPolygon)
    append(UInt32(circle.rings.count))
    for ring in circle.rings {
      append(.polygon)
      append(UInt32(1))
      append(ring)
    }
  }

  /// A line through the positions; at least two, as a segment has.
  init(line: [TrackPoint]) {
    box = Self.box(line.lazy.map(\.place.longitude), line.lazy.map(\.place.latitude))
    appendHeader(envelope: box)
    append(.lineString)
    append(line.map { (x: $0.place.longitude, y: $0.place.latitude) })
  }

  private static func box(
    _ xs: some Sequence<Double>, _ ys: some Sequence<Double>
  ) -> (minX: Double, maxX: Double, minY: Double, maxY: Double) {
    (xs.min() ?? 0, xs.max() ?? 0, ys.min() ?? 0, ys.max() ?? 0)
  }

  /// Magic `GP`, version 0, flags (bit 0: little-endian; bits 1 to 3: 1 for an envelope of x and y), reference system,
  /// envelope.
  private mutating func appendHeader(envelope: (minX: Double, maxX: Double, minY: Double, maxY: Double)?) {
    let littleEndian: UInt8 = 1
    let withEnvelope: UInt8 = 1 << 1
    bytes = [UInt8(ascii: "G"), UInt8(ascii: "P"), 0, envelope == nil ? littleEndian : littleEndian | withEnvelope]
    append(UInt32(GeoPackageSchema.wgs84))
    guard let envelope else { return }
    for edge in [envelope.minX, envelope.maxX, envelope.minY, envelope.maxY] { append(edge) }
  }

  /// The start of a WKB geometry: the byte order (1: little-endian), and the type.
  private mutating func append(_ kind: Kind) {
    bytes.append(1)
    append(kind.rawValue)
  }

  /// The number of points and their coordinates, x before y. Filled in place, because tracks have thousands of them.
  private mutating func append(_ points: [(x: Double, y: Double)]) {
    append(UInt32(clamping: points.count))
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: points.count * 16))
    bytes.withUnsafeMutableBytes { bytes in
      for (index, point) in points.enumerated() {
        bytes.storeBytes(of: point.x.bitPattern.littleEndian, toByteOffset: start + index * 16, as: UInt64.self)
        bytes.storeBytes(of: point.y.bitPattern.littleEndian, toByteOffset: start + index * 16 + 8, as: UInt64.self)
      }
    }
  }

  private mutating func append(_ number: UInt32) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ number: Double) {
    withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
