import Coverage
import Foundation
import GRDB
import Store
import TestSupport
import Testing

@testable import Export

/// Drives across 180 degrees and near a pole, in every output. RFC 7946, 3.1.9.
struct AntimeridianTests {
  /// 14 fences 21.3 m apart at 17 degrees south, eastwards, seven on either side of the antimeridian.
  private static let fences = (0..<14).map { number -> FenceRecord in
    let longitude = 179.9987 + Double(number) * 0.0002
    return .bare(
      id: Int64(number + 1), latitude: -17, longitude: longitude > 180 ? longitude - 360 : longitude, radius: 15)
  }

  /// A circle with a radius of 5 km around the north pole, or beside it, as at 89 N.
  private static let polar = (0..<14).map { number in
    FenceRecord.bare(
      id: Int64(number + 1), latitude: 89, longitude: 179.9 + Double(number) * 0.0154 - (number > 6 ? 360 : 0))
  }

  /// The positions of a track in order, a second apart.
  private func segments(_ places: [(latitude: Double, longitude: Double)]) -> [TrackSegment] {
    var cutter = TrackCutter(
      driveStarted: .sampleStart, link: nil, windows: [.init(session: 3, times: .start ..< .seconds(1e6))],
      accuracyLimit: 15, filter: FenceFilter())
    var segments = places.enumerated().compactMap { second, place in
      let place = Coordinate(latitude: place.latitude, longitude: place.longitude)
      return cutter.add(Fix(coordinate: place, accuracy: 5), at: .seconds(Double(second)))
    }
    if let last = cutter.end() { segments.append(last) }
    return segments
  }

  private var track: [TrackSegment] {
    segments(Self.fences.map { ($0.fence.centre.latitude, $0.fence.centre.longitude) })
  }

  // MARK: Lines

  @Test(
    "when a track crosses 180 degrees, then it is cut there: both parts end on the line, at the same place and time")
  func cut() throws {
    let track = track
    #expect(track.map(\.points.count) == [8, 8])
    let (exit, entry) = (try #require(track.first?.points.last), try #require(track.last?.points.first))
    #expect(exit.place.longitude == 180 && entry.place.longitude == -180)
    #expect(exit.place.latitude == -17 && entry.place.latitude == -17 && exit.time == entry.time)
    #expect(track.allSatisfy { zip($0.points, $0.points.dropFirst()).allSatisfy { $0.time < $1.time } })
  }

  @Test(
    "when positions of a track are on the line itself, then no part jumps",
    arguments: [
      ([179.9, 180, -179.9], [2, 2]), ([179.9, -180, -179.9], [2, 2]), ([-179.9, 180, 179.9], [2, 2]),
      ([179.9, -180, 179.9], [2, 2]), ([-179.9, 179.9, -179.9], [2, 3, 2]), ([180, -180, 180], []),
      ([179.8, 179.9, 180], [3]),
    ] as [([Double], [Int])])
  func onTheLine(longitudes: [Double], counts: [Int]) {
    let segments = segments(longitudes.map { (10, $0) })
    for segment in segments {
      for (from, to) in zip(segment.points, segment.points.dropFirst()) {
        #expect(abs(to.place.longitude - from.place.longitude) < 1, "\(longitudes)")
      }
    }
    if longitudes != [180, -180, 180] { #expect(segments.map(\.points.count) == counts) }
  }

  @Test("when a track is cut, then GPX, KML and GeoPackage have two lines, none of which jumps", arguments: [0, 1])
  func formats(isPolar: Int) throws {
    let records = isPolar == 1 ? Self.polar : Self.fences
    let track = segments(records.map { ($0.fence.centre.latitude, $0.fence.centre.longitude) })
    let gpx = try ExportFormat.gpx.text(records, tracks: track)
    let lines = gpx.components(separatedBy: "<trkseg>").dropFirst().map { part in
      part.components(separatedBy: "</trkseg>")[0].matches(of: /lon="([^"]*)"/).compactMap { Double($0.1) }
    }
    let kml = try ExportFormat.kml.text(records, tracks: track)
    let kmlLines = kml.matches(of: /<LineString>.*<coordinates>([^<]*)</).map { match in
      match.1.split(separator: " ").compactMap { $0.split(separator: ",").first.flatMap { Double($0) } }
    }
    for lines in [lines, kmlLines] {
      #expect(lines.count == 2)
      for line in lines { #expect((line.max() ?? 999) - (line.min() ?? 0) < 1, "\(line)") }
    }
    let folder = try TemporaryFolder()
    let path = folder.file("drive.gpkg")
    try Data(ExportFormat.gpkg.bytes(records, tracks: track)).write(to: URL(fileURLWithPath: path))
    let widths = try DatabaseQueue(path: path).read {
      try Double.fetchAll($0, sql: "SELECT maxx - minx FROM rtree_tracks_geom")
    }
    #expect(widths.count == 2 && widths.allSatisfy { $0 < 1 })
  }

  // MARK: Areas

  @Test("when a drive crosses 180 degrees, then the box of its GeoJSON is narrow", arguments: FenceShape.allCases)
  func box(shape: FenceShape) throws {
    let text = try ExportFormat.geojson.text(Self.fences, shape: shape)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let box = try #require(object["bbox"] as? [Double])
    #expect(box[0] > 179.99 && box[2] < -179.99)
  }

  @Test(
    "when a circle is at a pole, then its ring runs along the pole, and its box has all longitudes",
    arguments: [(90, 0), (89.99995, 179.9), (-89.99995, 12), (-90, -180), (89.99999, -180), (-89.9999, 180)]
      as [(Double, Double)])
  func pole(latitude: Double, longitude: Double) throws {
    let centre = try #require(Coordinate(latitude: latitude, longitude: longitude))
    let outline = CircleOutline(centre: centre, radius: 20)
    let ring = try #require(outline.rings.first)
    #expect(outline.rings.count == 1 && outline.isAroundPole)
    #expect(ring.first.map { $0.x == ring.last?.x && $0.y == ring.last?.y } == true)
    #expect(ring.map(\.x).min() == -180 && ring.map(\.x).max() == 180)
    let corners = ring.filter { abs($0.y) != 90 }
    #expect(ring.count - corners.count == 2)
    for corner in corners where abs(corner.x) < 180 {
      let place = try #require(Coordinate(latitude: corner.y, longitude: corner.x))
      #expect(abs(centre.distance(to: place) - 20) < 0.02, "\(corner)")
    }
    // Counterclockwise in the plane, with all of the cap inside: no edge goes back.
    let area = zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y } / 2
    #expect(area > 0)
    var box = BoundingBox()
    box.add(outline)
    #expect(box.corners?[0] == -180 && box.corners?[2] == 180)
    #expect(box.corners?[latitude > 0 ? 3 : 1] == (latitude > 0 ? 90 : -90))
  }

  @Test("when a fence is at 89 N, then each corner of its circle is a radius away, also across 180 degrees")
  func near() throws {
    for record in Self.polar {
      let outline = CircleOutline(centre: record.fence.centre, radius: record.fence.radius)
      #expect(!outline.isAroundPole)
      for corner in outline.rings.joined() where abs(corner.x) < 180 {
        let place = try #require(Coordinate(latitude: corner.y, longitude: corner.x))
        #expect(abs(record.fence.centre.distance(to: place) - record.fence.radius) < 0.02)
      }
    }
    let crossed = CircleOutline(centre: try #require(Coordinate(latitude: 89, longitude: 179.9999)), radius: 20)
    #expect(crossed.rings.count == 2)
  }

  // MARK: Boxes of users

  @Test(
    "when a box ends at 180 degrees, then -180 is in it; a pole is in each box that reaches it",
    arguments: [
      ("170,-20,180,0", -17, -180, true), ("-180,-20,-170,0", -17, 180, true), ("170,-20,180,0", -17, -179.9, false),
      ("170,-20,-170,0", -17, 180, true), ("180,-20,-180,0", -17, -180, true), ("180,-20,-180,0", -17, 179, false),
      ("180,-20,180,0", -17, -180, true), ("0,80,10,90", 90, -120, true), ("0,80,10,90", 89, -120, false),
      ("0,-90,10,0", -90, 99, true),
    ] as [(String, Double, Double, Bool)])
  func boxOfUser(text: String, latitude: Double, longitude: Double, isIn: Bool) throws {
    let place = try #require(Coordinate(latitude: latitude, longitude: longitude))
    #expect(try #require(SearchBox(text)).contains(place) == isIn)
  }

  // MARK: GDAL

  @Test(
    "when GDAL opens a drive across 180 degrees or at 89 N, then every line and circle is small and valid",
    .enabled(if: Surroundings.program("ogrinfo") != nil, "gdal-bin is not installed"),
    arguments: [0, 1], [ExportFormat.geojson, .gpkg, .kml, .gpx])
  func gdal(isPolar: Int, format: ExportFormat) async throws {
    let records =
      isPolar == 1
      ? Self.polar + [.bare(id: 99, latitude: 90, longitude: 5), .bare(id: 98, latitude: -90)] : Self.fences
    let track = segments(
      (isPolar == 1 ? Self.polar : records).map { ($0.fence.centre.latitude, $0.fence.centre.longitude) })
    let folder = try TemporaryFolder()
    let path = folder.file("drive.\(format.rawValue)")
    try Data(format.bytes(records, tracks: track, shape: format.hasShapes ? .circle : .point))
      .write(to: URL(fileURLWithPath: path))
    let ogrinfo = try #require(Surroundings.program("ogrinfo"))
    let layers = [
      "geojson": ["drive"], "gpkg": ["fences", "tracks"], "kml": ["Session 3", "Tracks"], "gpx": ["tracks"],
    ]
    for layer in layers[format.rawValue] ?? [] {
      let run = try RunningProgram(ogrinfo, ["-ro", "-geom=ISO_WKT", path, layer])
      #expect(try await run.exitStatus() == 0)
      #expect(!(run.standardOutput + run.standardError).contains("Warning"), "\(run.standardError)")
      var shapes = 0
      for line in run.standardOutput.split(separator: "\n") where line.contains("((") || line.contains("STRING") {
        // Each part by itself: a ring or a line.
        for part in line.split(separator: "(").dropFirst() {
          let xs = part.prefix { $0 != ")" }.split(separator: ",").compactMap {
            $0.split(separator: " ").first.flatMap { Double($0) }
          }
          guard xs.count > 1, let low = xs.min(), let high = xs.max() else { continue }
          shapes += 1
          #expect(
            high - low < 1 || (isPolar == 1 && high - low == 360 && line.contains(" 90") || line.contains("-90")),
            "\(line)")
        }
      }
      #expect(shapes >= 2, "\(format) \(layer): \(run.standardOutput.prefix(600))")
    }
  }
}
