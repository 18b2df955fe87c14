import Coverage
import Foundation

/// The user's own base map below the drawings of a report: images as they are, vector tiles as a few quiet areas and lines.
///
/// A file that cannot be read, or has nothing of the area, costs the ground only: ``complaints`` says so.
public final class SketchGround {
  /// What a feature is drawn as, in the order of drawing; its class in ``ReportStyle``.
  private enum Look: String, CaseIterable { case built, green, water, river, street, road, motorway, rail, border }

  private let basemap: Basemap
  /// Tiles that are damaged or too large.
  private var damaged: Set<TilePlace> = []
  private var trouble: String?
  /// Maps that were drawn, and those with a ground.
  private var (drawings, grounds) = (0, 0)

  /// Of one drawing.
  private static let mostTiles = 16
  /// In units: a wider tile shows next to nothing, and is drawn at a shallower zoom no better.
  private static let widest = 35_000.0
  /// Units a metre from which on small roads are drawn: a drawing of 2 km and less.
  private static let near = 0.12
  /// Of one drawing. A report has at most about ten of them.
  private static let mostBytes = 700_000

  public init(_ basemap: Basemap) { self.basemap = basemap }

  /// Whose map it is, for the captions.
  var attribution: String { basemap.attribution.isEmpty ? "a file" : basemap.attribution }

  /// What the user must know after the report is made: a line each.
  public var complaints: [String] {
    [
      trouble,
      damaged.isEmpty
        ? nil : "left out tiles of \(basemap.path) that are damaged or too large: \(damaged.count)",
      drawings > 0 && grounds == 0 && trouble == nil ? "\(basemap.path) has no tile of the area of the fences" : nil,
    ].compactMap { $0 }
  }

  /// The tiles below a drawing, of the deepest zoom of which some tiles cover it; empty without a tile.
  func svg(_ frame: SketchFrame) -> String {
    drawings += 1
    var cover = TileCover(margin: 0)
    frame.corners.forEach { cover.add($0) }
    do {
      for zoom in basemap.archive.zooms.reversed() {
        guard let places = cover.whole(zoom: zoom), places.count <= Self.mostTiles, let first = places.first else {
          continue
        }
        if frame.place(first, 1, 0).x - frame.place(first, 0, 0).x > Self.widest { break }
        let before = damaged
        let tiles = try places.compactMap { place in try basemap.tile(place).map { (place, $0) } }
        let text = basemap.archive.isVector ? drawing(tiles, frame) : images(tiles, frame)
        if text.isEmpty { continue }
        if text.utf8.count <= Self.mostBytes {
          grounds += 1
          return "<g class=\"ground\">\(text)</g>"
        }
        damaged = before
      }
    } catch {
      trouble = "\(error)"
    }
    return ""
  }

  // MARK: Images

  private func images(_ tiles: [(TilePlace, [UInt8])], _ frame: SketchFrame) -> String {
    tiles.map { place, bytes in
      guard let kind = TileContent.mediaType(bytes) else {
        damaged.insert(place)
        return ""
      }
      let (start, end) = (frame.place(place, 0, 0), frame.place(place, 1, 1))
      return """
        <image x="\(Markup.coordinate(start.x))" y="\(Markup.coordinate(start.y))" width="\(Markup.coordinate(end.x - start.x))" \
        height="\(Markup.coordinate(end.y - start.y))" preserveAspectRatio="none" href="data:\(kind);base64,\
        \(Data(bytes).base64EncodedString())"/>
        """
    }.joined()
  }

  // MARK: Vector tiles

  private func drawing(_ tiles: [(TilePlace, [UInt8])], _ frame: SketchFrame) -> String {
    var paths: [Look: String] = [:]
    for (place, bytes) in tiles {
      guard !bytes.isEmpty, var tile = VectorTile(bytes) else {
        damaged.insert(place)
        continue
      }
      for layer in tile.layers {
        for feature in layer.features {
          guard let look = Self.look(layer.name, feature), look != .street || frame.scale >= Self.near else { continue }
          for part in tile.parts(of: feature, in: layer) {
            let points = part.map { frame.place(place, $0.x, $0.y) }
            paths[look, default: ""] += Self.path(points, in: frame, isClosed: feature.kind == .polygons)
          }
        }
      }
    }
    return Look.allCases.map { look in
      paths[look].map { $0.isEmpty ? "" : "<path class=\"\(look.rawValue)\" d=\"\($0)\"/>" } ?? ""
    }.joined()
  }

  /// The part of a path that can be seen: without points nearer than 0.4 to the last one, and empty when all of it is outside, or smaller
  /// than that.
  private static func path(_ points: [(x: Double, y: Double)], in frame: SketchFrame, isClosed: Bool) -> String {
    let (xs, ys) = (points.map(\.x), points.map(\.y))
    guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max(),
      right > 0, left < frame.size.width, bottom > 0, top < frame.size.height, max(right - left, bottom - top) > 0.4
    else { return "" }
    var (text, last): (String, (x: Double, y: Double)?) = ("", nil)
    for (index, point) in points.enumerated() {
      // A tile from outside can have any number.
      let at = (x: min(max(point.x, -40_000), 40_000), y: min(max(point.y, -40_000), 40_000))
      if let last, index < points.count - 1, max(abs(at.x - last.x), abs(at.y - last.y)) < 0.4 { continue }
      text += "\(last == nil ? "M" : "L")\(Markup.coordinate(at.x)) \(Markup.coordinate(at.y))"
      last = at
    }
    return text + (isClosed ? "Z" : "")
  }

  private static let greenWords = [
    "wood", "forest", "grass", "park", "cemetery", "reserve", "scrub", "meadow", "farm", "orchard", "vineyard",
  ]
  private static let builtWords = ["residential", "commercial", "industrial", "retail", "suburb", "urban"]

  /// Layers and classes by the names of the schemas OpenMapTiles (class), Protomaps and Shortbread (kind), as on the map page; no names
  /// and no buildings.
  private static func look(_ layer: String, _ feature: VectorTile.Feature) -> Look? {
    let tags = feature.tags
    let named = tags["class"] ?? tags["kind"] ?? tags["pmap:kind"] ?? tags["highway"] ?? ""
    func isOne(of words: [String]) -> Bool { words.contains { named.contains($0) } }
    switch (layer, feature.kind) {
    case ("water", .polygons), ("water_polygons", .polygons), ("ocean", .polygons): return .water
    case ("water", .lines), ("waterway", .lines), ("water_lines", .lines): return .river
    case ("landcover", .polygons), ("landuse", .polygons), ("land", .polygons), ("park", .polygons):
      return layer == "park" || isOne(of: greenWords) ? .green : isOne(of: builtWords) ? .built : nil
    case ("boundary", .lines), ("boundaries", .lines):
      let level = tags["admin_level"] ?? tags["pmap:min_admin_level"] ?? tags["kind_detail"]
      let isAtSea = tags["maritime"] == "1"
      let isHigh = level.flatMap { Int($0) }.map { $0 <= 4 } ?? ["country", "region"].contains(named)
      return isHigh && !isAtSea ? .border : nil
    case ("transportation", .lines), ("roads", .lines), ("road", .lines), ("streets", .lines), ("transit", .lines):
      if isOne(of: ["rail", "monorail"]) || tags["rail"] == "1" { return .rail }
      if isOne(of: ["motorway", "trunk", "highway"]) { return .motorway }
      if isOne(of: ["primary", "secondary", "tertiary", "major_road", "medium_road"]) { return .road }
      return isOne(of: ["path", "foot", "track", "steps", "cycle", "pier", "ferry", "aerialway"]) ? nil : .street
    default: return nil
    }
  }
}
