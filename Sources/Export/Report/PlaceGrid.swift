import Coverage
import Foundation

/// Cells on the ground, about as wide as high, by which two drives over the same road are matched. Two positions on either
/// side of an edge are in different cells, however near they are.
public struct PlaceGrid: Hashable, Sendable {
  /// A cell: its row from the equator, positive northwards, and its column from Greenwich, positive eastwards.
  public struct Cell: Hashable, Comparable, Sendable {
    let row: Int32
    let column: Int32

    /// From south to north, then from west to east.
    public static func < (left: Cell, right: Cell) -> Bool { (left.row, left.column) < (right.row, right.column) }
  }

  /// The height of a cell in metres, 10 to 10,000.
  public let metres: Double

  /// Metres of a degree of latitude on a sphere with the Earth's mean radius.
  private static let metresPerDegree = 6_371_008.8 * Double.pi / 180

  /// - Parameter metres: The height of a cell; clamped to 10 to 10,000. A value that is not finite counts as 50.
  public init(metres: Double = 50) {
    self.metres = min(max(metres.isFinite ? metres : 50, 10), 10_000)
  }

  /// The cell of a position.
  public func cell(of place: Coordinate) -> Cell {
    let row = (place.latitude * Self.metresPerDegree / metres).rounded(.down)
    // All cells of a row have the width that their southern edge gives; near the poles, the least cosine of 0.01 bounds it.
    let south = row * metres / Self.metresPerDegree * Double.pi / 180
    let column = (place.longitude * Self.metresPerDegree * max(cos(south), 0.01) / metres).rounded(.down)
    return Cell(row: Int32(clamping: Int64(row)), column: Int32(clamping: Int64(column)))
  }
}
