import Coverage
import Foundation

/// Cells on the ground, about as wide as high, by which two drives over the same road are matched.
public struct PlaceGrid: Hashable, Sendable {
  /// A cell: its row from the equator and its column from Greenwich.
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

  /// - Parameter metres: Clamped to 10 to 10,000.
  public init(metres: Double = 50) {
    self.metres = min(max(metres.isFinite ? metres : 50, 10), 10_000)
  }

  /// The cell of a position.
  public func cell(of place: Coordinate) -> Cell {
    let row = (place.latitude * Self.metresPerDegree / metres).rounded(.down)
    // All cells of a row have the width that their southern edge gives.
    let south = row * metres / Self.metresPerDegree * Double.pi / 180
    let column = (place.longitude * Self.metresPerDegree * max(cos(south), 0.01) / metres).rounded(.down)
    return Cell(row: Int32(clamping: Int64(row)), column: Int32(clamping: Int64(column)))
  }
}
