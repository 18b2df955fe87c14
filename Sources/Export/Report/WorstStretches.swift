import Coverage

/// The stretches with the highest scores (``Stretch/score``). The fences of each link are cut into stretches in their order, so stretches
/// of a link do not overlap. Stretches that a gap makes shorter or longer come after all others, whatever their scores.
public struct WorstStretches: Sendable {
  /// The worst first; of equal ones the earlier.
  private(set) var worst: [Stretch] = []
  /// The stretch under way, by the id of the drive of its link.
  private var current: [Int64: Stretch] = [:]

  /// The most stretches that are listed: their maps have room on the second page.
  static let most = 3

  /// Adds a fence to the stretch under way; begins another one when that is full or a gap is between the two.
  /// - Parameter metres: From the fence before; `nil` when this fence does not continue it.
  mutating func add(_ fence: ReportedFence, metres: Double?) {
    if let metres, current[fence.drive]?.isFull(before: metres) == false {
      current[fence.drive]?.add(fence.fence, metres: metres)
    } else {
      end(fence.drive)
      current[fence.drive] = Stretch(fence)
    }
  }

  /// Ends the stretches under way.
  mutating func end() { for drive in current.keys.sorted() { end(drive) } }

  /// Ends a stretch and ranks it; one without pings is dropped.
  private mutating func end(_ drive: Int64) {
    guard let stretch = current.removeValue(forKey: drive), stretch.pings > 0 else { return }
    let place = worst.firstIndex { $0.rank < stretch.rank } ?? worst.count
    worst.insert(stretch, at: place)
    if worst.count > Self.most { worst.removeLast() }
  }
}

extension Stretch {
  /// The greater, the worse; long stretches before others.
  fileprivate var rank: (Int, Double) { (isLong ? 1 : 0, score) }
}
