import Coverage
import Foundation

/// Two selections of fences over the same road, place by place: the delays of each place on both sides form a pair, so that
/// differences between places do not hide those between the selections (docs/report.md, Comparison).
public struct PlaceComparison: Sendable {
  /// A side of the comparison.
  public enum Side: Int, Hashable, Sendable, CaseIterable {
    case first, second
  }

  /// The pings of one side in a cell, or in several.
  struct Tally: Hashable, Sendable {
    /// The pings that were sent.
    var pings = 0
    /// Those that were answered.
    var answered = 0
    /// The sum of their delays, in nanoseconds.
    var nanoseconds: Int64 = 0

    mutating func add(_ other: Tally) {
      pings = pings.saturatingAdding(other.pings)
      answered = answered.saturatingAdding(other.answered)
      nanoseconds = nanoseconds.saturatingAdding(other.nanoseconds)
    }

    /// The mean delay in nanoseconds; `nil` without an answer.
    var mean: Double? { answered > 0 ? Double(nanoseconds) / Double(answered) : nil }

    /// The share of lost pings; `nil` without pings.
    var loss: Double? { pings > 0 ? Double(pings.saturatingSubtracting(answered)) / Double(pings) : nil }
  }

  /// The result of a comparison.
  struct Result: Sendable {
    /// The number of places with pings on each side, and of those with pings on both.
    let places: (first: Int, second: Int, matched: Int)
    /// The pings of each side at the matched places: the first side, then the second.
    let tallies: [Tally]
    /// The median over the matched places of the differences of mean delays, second less first, with its interval. `nil` when
    /// no place has answers on both sides.
    let median: Percentile?
    /// Whether the delays differ; `nil` when they differ in fewer than ``SignedRank/fewest`` places.
    let delay: SignedRank?
    /// Whether the losses differ; `nil` when they differ in fewer than ``SignedRank/fewest`` places.
    let loss: SignedRank?
  }

  /// The cells.
  let grid: PlaceGrid
  /// The tallies of each place in which a side sent pings.
  private var cells: [PlaceGrid.Cell: Pair] = [:]

  /// The tallies of both sides in a cell.
  private struct Pair {
    var first = Tally()
    var second = Tally()

    var isMatched: Bool { first.pings > 0 && second.pings > 0 }

    mutating func add(_ tally: Tally, to side: Side) {
      switch side {
      case .first: first.add(tally)
      case .second: second.add(tally)
      }
    }
  }

  /// Nothing to compare yet.
  public init(grid: PlaceGrid = PlaceGrid()) { self.grid = grid }

  /// Adds a fence to the place in which its centre is; a fence without pings adds nothing.
  public mutating func add(_ fence: Fence, to side: Side) {
    guard fence.pings > 0 else { return }
    cells[grid.cell(of: fence.centre), default: Pair()].add(
      Tally(pings: fence.pings, answered: fence.pingsAnswered, nanoseconds: fence.rttSumNanoseconds), to: side)
  }

  /// Compares the matched places: those where both sides sent pings.
  func result() -> Result {
    // The order of cells changes nothing: sums are of integers, and the tests sort.
    var (tallies, matched, delays, losses) = ([Tally(), Tally()], 0, [Double](), [Double]())
    for pair in cells.values where pair.isMatched {
      matched += 1
      tallies[0].add(pair.first)
      tallies[1].add(pair.second)
      if let first = pair.first.mean, let second = pair.second.mean { delays.append(second - first) }
      // Rounded to 1e-9: 0.3 - 0.1 differs from 0.4 - 0.2 as Double, and equal differences must share their ranks.
      if let first = pair.first.loss, let second = pair.second.loss {
        losses.append(((second - first) * 1e9).rounded(.toNearestOrEven))
      }
    }
    return Result(
      places: (cells.values.count { $0.first.pings > 0 }, cells.values.count { $0.second.pings > 0 }, matched),
      tallies: tallies, median: Self.median(delays), delay: SignedRank(delays), loss: SignedRank(losses))
  }

  /// The median by nearest rank, of differences rounded to microseconds.
  private static func median(_ nanoseconds: [Double]) -> Percentile? {
    Percentile(50, ofSorted: nanoseconds.map { Int64(($0 / 1000).rounded()) }.sorted())
  }
}

/// Cells on the ground, about as wide as high, by which two drives over the same road are matched. Two positions on either
/// side of an edge are in different cells, however near they are.
public struct PlaceGrid: Hashable, Sendable {
  /// A cell: its row from the equator, positive northwards, and its column from Greenwich, positive eastwards.
  struct Cell: Hashable, Comparable, Sendable {
    let row: Int32
    let column: Int32

    /// From south to north, then from west to east.
    static func < (left: Cell, right: Cell) -> Bool { (left.row, left.column) < (right.row, right.column) }
  }

  /// The height of a cell in metres, 10 to 10,000.
  let metres: Double

  /// Metres of a degree of latitude on a sphere with the Earth's mean radius.
  private static let metresPerDegree = 6_371_008.8 * Double.pi / 180

  /// - Parameter metres: The height of a cell; clamped to 10 to 10,000. A value that is not finite counts as 50.
  public init(metres: Double = 50) {
    self.metres = min(max(metres.isFinite ? metres : 50, 10), 10_000)
  }

  /// The cell of a position.
  func cell(of place: Coordinate) -> Cell {
    let row = (place.latitude * Self.metresPerDegree / metres).rounded(.down)
    // All cells of a row have the width that their southern edge gives; near the poles, the least cosine of 0.01 bounds it.
    let south = row * metres / Self.metresPerDegree * Double.pi / 180
    let column = (place.longitude * Self.metresPerDegree * max(cos(south), 0.01) / metres).rounded(.down)
    return Cell(row: Int32(clamping: Int64(row)), column: Int32(clamping: Int64(column)))
  }
}
