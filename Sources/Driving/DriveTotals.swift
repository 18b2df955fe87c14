import Coverage

/// What a drive on one link has counted from its beginning; it never decreases, and totals of several drives can be added.
public struct DriveTotals: Hashable, Sendable {
  /// Pings with a known result.
  public private(set) var pings = 0
  /// Of ``pings``, those without an answer in time.
  public private(set) var lost = 0
  /// Pings that this host could not send; they are not among ``pings``.
  public private(set) var unsent = 0
  /// The round-trip times of the others.
  public private(set) var delays = DelayHistogram()
  /// Fences, the open one included.
  public var fences = 0

  /// Nothing counted.
  public init() {}

  /// Counts one ping.
  public mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      unsent = unsent.saturatingAdding(count)
      return
    }
    pings = pings.saturatingAdding(1)
    switch outcome {
    case .answered(let rttNanoseconds, _): delays.count(rttNanoseconds)
    case .failed, .unsent: lost = lost.saturatingAdding(1)
    }
  }

  /// Adds the totals of another drive.
  public mutating func add(_ other: DriveTotals) {
    pings = pings.saturatingAdding(other.pings)
    lost = lost.saturatingAdding(other.lost)
    unsent = unsent.saturatingAdding(other.unsent)
    delays.add(other.delays)
    fences = fences.saturatingAdding(other.fences)
  }
}
