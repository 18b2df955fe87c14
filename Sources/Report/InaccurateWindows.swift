import Coverage

/// The times without an accurate position, found again from the positions of a drive log: pings that were sent then belong to
/// no fence (docs/algorithm.md, 4). The first one begins with the first position that is not accurate.
struct InaccurateWindows {
  /// In order, and apart. The last one can be open: it then ends at the greatest time.
  private(set) var ranges: [Range<DriveTime>] = []
  private let accuracyLimit: Double
  /// Whether the last of ``ranges`` is open.
  private var isOpen = false
  /// The greatest time so far: positions of a log can be out of order, and windows must not go back.
  private var latest = DriveTime.start

  private static let end = DriveTime(microseconds: .max)

  /// - Parameter accuracyLimit: The limit of the drive, in metres, inclusive.
  init(accuracyLimit: Double) { self.accuracyLimit = accuracyLimit }

  /// Adds a position, or the loss of it.
  /// - Returns: Whether it is accurate.
  mutating func add(_ fix: Fix, at time: DriveTime) -> Bool {
    latest = max(latest, time)
    let isAccurate = fix.coordinate != nil && fix.accuracy.map { $0 <= accuracyLimit } ?? false
    if !isAccurate, !isOpen {
      ranges.append(latest..<Self.end)
    } else if isAccurate, isOpen, let last = ranges.popLast() {
      ranges.append(last.lowerBound..<latest)
    }
    isOpen = !isAccurate
    return isAccurate
  }
}
