import Foundation
import OrderedJSON

/// The part of a base map that goes into a page: the tiles around the fences, from an overview down to the greatest zoom that
/// the limit allows, as JSON.
///
/// A zoom has the tiles of the whole rectangle around the fences, or, once these are too many, only those near to the fences.
struct BasemapClip {
  private let basemap: Basemap
  private var tiles: [TilePlace: Int] = [:]
  /// In base64; tiles with the same content, such as sea, share one.
  private var contents: [String] = []
  private var places: [String: Int] = [:]
  /// Bytes of the text so far.
  private var size = 0
  /// Tiles that are left out: damaged, or too large.
  private(set) var damaged = 0

  /// The largest text in bytes.
  static let mostBytes = 10_000_000
  /// Zooms above that of the whole rectangle, for a look around.
  private static let overview = 4
  /// The text around the lists.
  private static let frame = 4096

  /// - Parameter limit: The largest text in bytes.
  /// - Throws: ``BasemapError`` when the file cannot be read.
  init(_ basemap: Basemap, _ cover: TileCover, limit: Int = mostBytes) throws {
    self.basemap = basemap
    guard let zoomOfWhole = cover.zoomOfWhole else { return }
    let zooms = basemap.archive.zooms
    let first = min(max(zoomOfWhole - Self.overview, zooms.lowerBound), zooms.upperBound)
    var isWhole = true
    for zoom in first...zooms.upperBound {
      if isWhole, try add(cover.whole(zoom: zoom), limit) { continue }
      isWhole = false
      guard try add(cover.near(zoom: zoom), limit) else { return }
    }
  }

  var isEmpty: Bool { tiles.isEmpty }

  /// Adds the tiles of a zoom, or none of them.
  /// - Returns: Whether they fit.
  private mutating func add(_ zoom: [TilePlace]?, _ limit: Int) throws -> Bool {
    guard let zoom else { return false }
    var with = self
    // In the order of PMTiles each directory is read once.
    for place in zoom.sorted(by: { $0.number < $1.number }) {
      guard let bytes = try basemap.tile(place) else { continue }
      if bytes.isEmpty { with.damaged += 1 } else { with.add(bytes, at: place) }
      guard with.size + Self.frame <= limit else { return false }
    }
    self = with
    return true
  }

  private mutating func add(_ bytes: [UInt8], at place: TilePlace) {
    let content = Data(bytes).base64EncodedString()
    if places[content] == nil {
      places[content] = contents.count
      contents.append(content)
      size += content.utf8.count + 3
    }
    tiles[place] = places[content]
    // "22/4194303/4194303":99999,
    size += 27
  }

  /// The JSON text in one line.
  var text: [UInt8] {
    let members = tiles.sorted { $0.key.number < $1.key.number }.map { place, content in
      JSON.Member("\(place.zoom)/\(place.column)/\(place.row)", .count(content))
    }
    let lists = [JSON.Member("tiles", .object(members)), JSON.Member("data", .array(contents.map(JSON.string)))]
    return Array(JSON.object(basemap.members + lists).text.utf8)
  }
}

extension Basemap {
  /// What the page's script must know beside the tiles.
  var members: [JSON.Member] {
    [
      JSON.Member("is_vector", .bool(archive.isVector)), JSON.Member("attribution", .string(attribution)),
      JSON.Member("least_zoom", .count(archive.zooms.lowerBound)),
      JSON.Member("most_zoom", .count(archive.zooms.upperBound)),
    ]
  }
}
