import Coverage

/// A geometry as a blob of GeoPackage (OGC 12-128r17, 2.1.3): a header with the envelope, then WKB, both little-endian.
struct GeoPackageGeometry {
  /// The blob.
  private(set) var bytes: [UInt8] = []
  /// The least and greatest longitude and latitude in degrees.
  let box: (minX: Double, maxX: Double, minY: Double, maxY: Double)

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

  private mutating func appendHeader(envelope: (minX: Double, maxX: Double, minY: Double, maxY: Double)?) {
    let littleEndian: UInt8 = 1
    let withEnvelope: UInt8 = 1 << 1
    bytes = [UInt8(ascii: "G"), UInt8(ascii: "P"), 0, envelope == nil ? littleEndian : littleEndian | withEnvelope]
    append(UInt32(GeoPackageSchema.wgs84))
    guard let envelope else { return }
    for edge in [envelope.minX, envelope.maxX, envelope.minY, envelope.maxY] { append(edge) }
  }

  private mutating func append(_ kind: Kind) {
    bytes.append(1)
    append(kind.rawValue)
  }

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
