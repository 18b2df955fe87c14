import Coverage
import Foundation

/// Which tiles a map of some places needs: those of the rectangle around all, or, for a long way, those near to the places.
struct TileCover {
  private var box = BoundingBox()
  /// The numbers of the tiles of zoom ``cellZoom`` near to the places, as row and column.
  private var cells: Set<Int> = []
  /// In metres, around the places.
  private let margin: Double

  private static let equator = 40_075_016.7
  /// Where Web Mercator ends, in degrees.
  private static let end = 85.05
  /// Tiles of about a kilometre.
  private static let cellZoom = 15
  /// More tiles of one zoom are not looked up.
  static let mostTiles = 20_000

  init(margin: Double = 500) { self.margin = margin }

  mutating func add(_ place: Coordinate) {
    box.add(place)
    guard cells.count < Self.mostTiles else { return }
    let side = 1 << Self.cellZoom
    let (x, y) = (Self.x(place.longitude), Self.y(place.latitude))
    let margin = margin(at: place.latitude)
    for row in Self.numbers(y - margin, y + margin, of: side) where (0..<side).contains(row) {
      for column in Self.numbers(x - margin, x + margin, of: side) {
        cells.insert(row * side + Self.wrapped(column, side))
      }
    }
  }

  /// The greatest zoom at which two tiles are as wide and as high as the rectangle; `nil` without a place.
  var zoomOfWhole: Int? {
    guard let (columns, rows) = spans else { return nil }
    let extent = max(columns.to - columns.from, rows.to - rows.from)
    return (0...TilePlace.deepest).last { extent * Double(1 << $0) <= 2 } ?? 0
  }

  /// The tiles of the rectangle around all places; `nil` when they are too many.
  func whole(zoom: Int) -> [TilePlace]? {
    guard let (columns, rows) = spans else { return [] }
    let side = 1 << zoom
    let (across, down) = (
      Self.numbers(columns.from, columns.to, of: side), Self.numbers(rows.from, rows.to, of: side)
    )
    guard Double(across.count) * Double(down.count) <= Double(Self.mostTiles) else { return nil }
    // A rectangle around the whole Earth has each column once.
    let distinct = Set(across.map { Self.wrapped($0, side) }).sorted()
    return down.flatMap { row in distinct.compactMap { TilePlace(zoom: zoom, column: $0, row: row) } }
  }

  /// The tiles near to the places; `nil` when they are too many.
  func near(zoom: Int) -> [TilePlace]? {
    guard cells.count < Self.mostTiles else { return nil }
    let side = 1 << Self.cellZoom
    if zoom <= Self.cellZoom {
      let shift = Self.cellZoom - zoom
      let places = Set(cells.map { [($0 / side) >> shift, ($0 % side) >> shift] })
      return places.compactMap { TilePlace(zoom: zoom, column: $0[1], row: $0[0]) }
    }
    let parts = 1 << (zoom - Self.cellZoom)
    guard cells.count * parts * parts <= Self.mostTiles else { return nil }
    return cells.flatMap { cell in
      (0..<parts * parts).compactMap { part in
        TilePlace(
          zoom: zoom, column: cell % side * parts + part % parts, row: cell / side * parts + part / parts)
      }
    }
  }

  /// The rectangle with its margin, from 0 to 1 over the map; `to` is above 1 for one across the antimeridian.
  private var spans: (columns: (from: Double, to: Double), rows: (from: Double, to: Double))? {
    guard let (west, east) = box.longitudes else { return nil }
    let margin = margin(at: max(abs(box.south), abs(box.north)))
    let (left, right) = (Self.x(west), Self.x(east) + (east < west ? 1 : 0))
    let columns = right - left + 2 * margin >= 1 ? (0, 1.0.nextDown) : (left - margin, right + margin)
    return (columns, (Self.y(box.north) - margin, Self.y(box.south) + margin))
  }

  private static func x(_ longitude: Double) -> Double { longitude / 360 + 0.5 }

  private static func y(_ latitude: Double) -> Double {
    0.5 - log(tan(.pi / 4 + radians(latitude) / 2)) / (2 * .pi)
  }

  /// ``margin`` as a share of the map.
  private func margin(at latitude: Double) -> Double { margin / (Self.equator * cos(Self.radians(latitude))) }

  private static func radians(_ latitude: Double) -> Double { min(max(latitude, -end), end) * .pi / 180 }

  /// The columns or rows of tiles between two shares of the map, of `side` tiles. All are finite: coordinates are degrees.
  private static func numbers(_ from: Double, _ to: Double, of side: Int) -> ClosedRange<Int> {
    let first = Int((from * Double(side)).rounded(.down))
    return first...max(first, Int((to * Double(side)).rounded(.down)))
  }

  private static func wrapped(_ column: Int, _ side: Int) -> Int { ((column % side) + side) % side }
}
