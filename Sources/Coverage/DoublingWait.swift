/// The one kind of growing waits: the first, the second, and then twice the one before, up to the greatest. A pure value.
public struct DoublingWait: Hashable, Sendable {
  private let first: Duration
  private let second: Duration
  private let greatest: Duration
  private var step = 0

  /// - Parameter second: `nil`: twice the first.
  public init(first: Duration, second: Duration? = nil, greatest: Duration) {
    (self.first, self.second, self.greatest) = (first, second ?? first * 2, greatest)
  }

  /// The wait after `step` others.
  public func after(_ step: Int) -> Duration {
    guard step > 0 else { return min(first, greatest) }
    // So often doubled, a second exceeds every greatest wait.
    return min(second * (1 << min(step - 1, 30)), greatest)
  }

  /// The wait that ``next()`` will return.
  public var current: Duration { after(step) }

  /// This wait; the following one is longer.
  @discardableResult
  public mutating func next() -> Duration {
    defer { step += 1 }
    return current
  }

  /// Starts again with the first wait.
  public mutating func reset() { step = 0 }
}
