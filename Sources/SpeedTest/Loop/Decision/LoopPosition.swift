import Coverage

/// The latest accurate position. A pure value; times are loop times in microseconds.
struct LoopPosition: Hashable, Sendable {
  /// The worst accuracy in metres; inclusive.
  static let accuracyLimit = 20.0
  /// A position that is older is not the device's place any more.
  static let lifetime = Duration.seconds(10)

  private var coordinate: Coordinate?
  private var at: Int64 = 0

  /// An inaccurate fix changes nothing; a lost one ends the position.
  mutating func apply(_ fix: Fix, at now: Int64) {
    guard let place = fix.coordinate else { return forget() }
    guard let accuracy = fix.accuracy, accuracy <= Self.accuracyLimit else { return }
    (coordinate, at) = (place, now)
  }

  /// After a suspend, the device can be anywhere.
  mutating func forget() { (coordinate, at) = (nil, 0) }

  /// The position, unless it is too old.
  func current(at now: Int64) -> Coordinate? {
    now.saturatingSubtracting(at) <= Self.lifetime.inMicroseconds ? coordinate : nil
  }
}
