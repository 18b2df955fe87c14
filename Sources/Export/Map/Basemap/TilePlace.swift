/// A tile of the pyramid of Web Mercator: its column counts from the west, its row from the north.
struct TilePlace: Hashable, Sendable {
  /// 0 (the whole map) to ``deepest``.
  let zoom: Int
  /// 0 to 2^zoom - 1, as ``row``.
  let column: Int
  let row: Int

  /// Tiles of a metre; no base map goes deeper.
  static let deepest = 22

  /// `nil` for numbers that no tile has.
  init?(zoom: Int, column: Int, row: Int) {
    guard (0...Self.deepest).contains(zoom) else { return nil }
    let side = 1 << zoom
    guard (0..<side).contains(column), (0..<side).contains(row) else { return nil }
    (self.zoom, self.column, self.row) = (zoom, column, row)
  }

  /// The number of the tile in PMTiles: all tiles of lower zooms, then the position on a Hilbert curve (spec v3, 4.1).
  var number: UInt64 {
    var number = ((UInt64(1) << UInt64(2 * zoom)) - 1) / 3
    var (x, y) = (column, row)
    for level in stride(from: zoom - 1, through: 0, by: -1) {
      let half = 1 << level
      let (east, south) = (x & half != 0, y & half != 0)
      number += UInt64((east ? 3 : 0) ^ (south ? 1 : 0)) << UInt64(2 * level)
      (x, y) = (x & (half - 1), y & (half - 1))
      if !south {
        if east { (x, y) = (half - 1 - x, half - 1 - y) }
        (x, y) = (y, x)
      }
    }
    return number
  }
}
