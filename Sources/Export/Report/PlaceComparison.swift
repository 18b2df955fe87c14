import Coverage
import Foundation

/// Two selections of fences over the same road, place by place: the delays of each place on both sides form a pair, so that
/// differences between places do not hide those between the selections (docs/report.md, Comparison).
public struct PlaceComparison: Sendable {
  public enum Side: Int, Hashable, Sendable, CaseIterable {
    case first, second
  }

  struct Result: Sendable {
    /// The number of places with pings on each side, and of those with pings on both.
    let places: (first: Int, second: Int, matched: Int)
    /// The pings of each side at the matched places: the first side, then the second.
    let sums: [PingSums]
    /// The difference of the mean delays of a place, in nanoseconds; `nil` when the places do not suffice.
    let delay: SignedRank?
    /// The difference of the shares of lost pings at all matched places; `nil` when the places do not suffice.
    let loss: Difference?
  }

  let grid: PlaceGrid
  /// The pings of each place in which a side sent some.
  private var cells: [PlaceGrid.Cell: Pair] = [:]
  private var placesOfFirst = 0

  /// The pings of a side in a cell, small because there are as many as places; counts saturate.
  private struct Tally {
    private(set) var pings: UInt32 = 0
    private(set) var answered: UInt32 = 0
    private(set) var nanoseconds: Int64 = 0

    mutating func add(_ fence: Fence) {
      pings = UInt32(clamping: Int(pings).saturatingAdding(fence.pings))
      answered = UInt32(clamping: Int(answered).saturatingAdding(fence.pingsAnswered))
      nanoseconds = nanoseconds.saturatingAdding(fence.rttSumNanoseconds)
    }

    var sums: PingSums { PingSums(pings: Int(pings), answered: Int(answered), nanoseconds: nanoseconds) }
  }

  /// The pings of both sides in a cell.
  private struct Pair {
    var first = Tally()
    var second = Tally()
    /// The place among those of the first side, in the order of the road.
    var order: UInt32 = 0

    var isMatched: Bool { first.pings > 0 && second.pings > 0 }

    var sides: [PingSums] { [first.sums, second.sums] }
  }

  public init(grid: PlaceGrid = PlaceGrid()) { self.grid = grid }

  /// Adds a fence to the place in which its centre is; a fence without pings adds nothing.
  public mutating func add(_ fence: Fence, to side: Side) {
    guard fence.pings > 0 else { return }
    let cell = grid.cell(of: fence.centre)
    var pair = cells[cell] ?? Pair()
    switch side {
    case .first:
      if pair.first.pings == 0 {
        pair.order = UInt32(clamping: placesOfFirst)
        placesOfFirst += 1
      }
      pair.first.add(fence)
    case .second: pair.second.add(fence)
    }
    cells[cell] = pair
  }

  /// Compares the matched places: those where both sides sent pings, in the order in which the first side came to them.
  func result() -> Result {
    var matched = cells.values.filter(\.isMatched)
    matched.sort { $0.order < $1.order }
    let sums = [0, 1].map { side in matched.reduce(into: PingSums()) { $0.add($1.sides[side]) } }
    let delays = matched.compactMap { pair in
      pair.first.sums.mean.flatMap { first in pair.second.sums.mean.map { $0 - first } }
    }
    return Result(
      places: (placesOfFirst, cells.values.count { $0.second.pings > 0 }, matched.count), sums: sums,
      delay: SignedRank(delays), loss: Self.loss(matched, sums))
  }

  /// The fewest independent places that make up the variance of a difference of losses.
  private static let fewestEvents = 3.0

  /// The difference of the losses of all places together. Its variance is that of what each place adds to it.
  private static func loss(_ places: [Pair], _ all: [PingSums]) -> Difference? {
    guard let first = all[0].loss, let second = all[1].loss else { return nil }
    let number = Double(places.count)
    func excess(_ place: PingSums, _ all: PingSums, _ loss: Double) -> Double {
      ((place.loss ?? 0) - loss) * Double(place.pings) / Double(all.pings) * number
    }
    var added = SerialBlocks(count: places.count)
    for place in places {
      added.add(excess(place.second.sums, all[1], second) - excess(place.first.sums, all[0], first))
    }
    guard let deviations = CorrelatedMean(added), deviations.isEnough,
      deviations.events >= fewestEvents
    else { return nil }
    return Difference(
      effect: second - first, standardError: deviations.standardError, freedom: Double(deviations.freedom),
      effective: deviations.effective)
  }
}

/// Cells on the ground, about as wide as high, by which two drives over the same road are matched. Two positions on either
/// side of an edge are in different cells, however near they are.
public struct PlaceGrid: Hashable, Sendable {
  /// A cell: its row from the equator, positive northwards, and its column from Greenwich, positive eastwards.
  struct Cell: Hashable, Sendable {
    let row: Int32
    let column: Int32
  }

  /// The height of a cell in metres, 10 to 10,000.
  let metres: Double

  /// Metres of a degree of latitude on a sphere with the Earth's mean radius.
  private static let metresPerDegree = 6_371_008.8 * Double.pi / 180

  /// - Parameter metres: The height of a cell; clamped to 10 to 10,000. A value that is not finite counts as 50.
  public init(metres: Double = 50) {
    self.metres = min(max(metres.isFinite ? metres : 50, 10), 10_000)
  }

  func cell(of place: Coordinate) -> Cell {
    let row = (place.latitude * Self.metresPerDegree / metres).rounded(.down)
    // All cells of a row have the width that their southern edge gives; near the poles, the least cosine of 0.01 bounds it.
    let south = row * metres / Self.metresPerDegree * Double.pi / 180
    let column = (place.longitude * Self.metresPerDegree * max(cos(south), 0.01) / metres).rounded(.down)
    return Cell(row: Int32(clamping: Int64(row)), column: Int32(clamping: Int64(column)))
  }
}
