import Coverage

/// The stretches with the highest scores.
public struct WorstStretches: Sendable {
  /// The worst first; of equal ones the earlier.
  public private(set) var worst: [Stretch] = []
  private var current: Stretch?

  /// Their largest number: their maps have room on the second page.
  static let most = 3

  /// - Parameter metres: From the fence before; `nil` when this fence does not continue it.
  mutating func add(_ fence: ReportedFence, metres: Double?) {
    if let metres, current?.isFull == false {
      current?.add(fence.fence, metres: metres)
    } else {
      end()
      current = Stretch(fence)
    }
  }

  /// Ends the current stretch.
  mutating func end() {
    if let current, current.pings > 0 {
      let place = worst.firstIndex { $0.score < current.score } ?? worst.count
      worst.insert(current, at: place)
      if worst.count > Self.most { worst.removeLast() }
    }
    current = nil
  }
}
