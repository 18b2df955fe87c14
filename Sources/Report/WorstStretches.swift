import Coverage

/// The stretches with the highest scores (``Stretch/score``). Fences are cut into stretches in their order, so stretches do
/// not overlap.
public struct WorstStretches: Sendable {
  /// The worst first; of equal ones the earlier.
  private(set) var worst: [Stretch] = []
  /// The stretch under way.
  private var current: Stretch?

  /// The most stretches that are listed: their maps have room on the second page.
  static let most = 3

  /// Adds a fence to the stretch under way; begins another one when that is full or a gap is between the two.
  /// - Parameter metres: From the fence before; `nil` when this fence does not continue it.
  mutating func add(_ fence: ReportedFence, metres: Double?) {
    if let metres, current?.isFull == false {
      current?.add(fence.fence, metres: metres)
    } else {
      end()
      current = Stretch(fence)
    }
  }

  /// Ends the stretch under way and ranks it; one without pings is dropped.
  mutating func end() {
    if let current, current.pings > 0 {
      let place = worst.firstIndex { $0.score < current.score } ?? worst.count
      worst.insert(current, at: place)
      if worst.count > Self.most { worst.removeLast() }
    }
    current = nil
  }
}
