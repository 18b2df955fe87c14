import Coverage

/// The last epoch that a receiver completed: what says the same once more is no new position. A pure value.
struct ClosedEpochs {
  /// Faster than this, in metres a second, a receiver does not stay in its place.
  private static let moving = 1.0

  /// The last report with its epoch's beginning.
  private var last: (report: TPV, began: ContinuousClock.Instant)?
  /// The time of the last epoch that had one, and when that epoch began.
  private var time: (value: WallTime, began: ContinuousClock.Instant)?

  mutating func note(_ epoch: Epoch) {
    last = (epoch.report, epoch.began)
    if let value = epoch.report.time { time = (value, epoch.began) }
  }

  /// The counter of the reason for which `tpv` is no new position; `nil` when it may be one.
  func refusal(
    of tpv: TPV, at now: ContinuousClock.Instant, longestEpoch: Duration
  ) -> WritableKeyPath<PositioningCounters, Int>? {
    guard let last else { return nil }
    if let time, tpv.time == time.value {
      // Interleaved sentences step back to the epoch before.
      if now < time.began + longestEpoch { return \.stragglers }
      return isSamePlace(tpv, as: last.report) ? \.repeated : nil
    }
    return tpv.time == nil && isFrozen(tpv, like: last.report) ? \.repeated : nil
  }

  /// Whether the receiver's time is that of the last epoch, though it has a new position.
  func standsStill(_ tpv: TPV) -> Bool { time != nil && tpv.time == time?.value }

  /// Whether the receiver's time has run with the host's since the last epoch, but for some jitter. In a recording that is played fast, it
  /// has not.
  func isAtItsPace(until next: WallTime, _ now: ContinuousClock.Instant) -> Bool {
    guard let time else { return false }
    return .microseconds(next.microseconds) - .microseconds(time.value.microseconds) < (now - time.began) * 1.25
  }

  private func isSamePlace(_ tpv: TPV, as other: TPV) -> Bool {
    (tpv.latitude, tpv.longitude) == (other.latitude, other.longitude)
  }

  /// Without a time a receiver at rest looks as one that repeats itself, unless it says that it moves.
  private func isFrozen(_ tpv: TPV, like other: TPV) -> Bool {
    isSamePlace(tpv, as: other) && (tpv.speed ?? 0) > Self.moving && tpv.speed == other.speed
      && tpv.track == other.track
  }
}
