import Coverage

/// The last complete epoch of a receiver, for recognising reports that repeat it. A pure value.
struct ClosedEpochs {
  /// In metres a second: above this speed the position must change.
  private static let moving = 1.0

  /// The merged report of the last epoch, with the beginning of the epoch.
  private var last: (report: TPV, began: ContinuousClock.Instant)?
  /// The receiver's time of the last epoch that had one, with the beginning of that epoch.
  private var time: (value: WallTime, began: ContinuousClock.Instant)?

  mutating func note(_ epoch: Epoch) {
    last = (epoch.report, epoch.began)
    if let value = epoch.report.time { time = (value, epoch.began) }
  }

  /// The counter for a `tpv` that is not a new position; `nil` when it can be one.
  func refusal(
    of tpv: TPV, at now: ContinuousClock.Instant, longestEpoch: Duration
  ) -> WritableKeyPath<PositioningCounters, Int>? {
    guard let last else { return nil }
    if let time, tpv.time == time.value {
      // Interleaved sentences belong to the epoch before.
      if now < time.began + longestEpoch { return \.stragglers }
      return isSamePlace(tpv, as: last.report) ? \.repeated : nil
    }
    return tpv.time == nil && isFrozen(tpv, like: last.report) ? \.repeated : nil
  }

  /// Whether the receiver's time is still that of the last epoch.
  func standsStill(_ tpv: TPV) -> Bool { time != nil && tpv.time == time?.value }

  /// Whether the receiver's time has run at the host's pace since the last epoch, except for jitter. In a recording that is played fast, it
  /// runs faster.
  func isAtItsPace(until next: WallTime, _ now: ContinuousClock.Instant) -> Bool {
    guard let time else { return false }
    return .microseconds(next.microseconds) - .microseconds(time.value.microseconds) < (now - time.began) * 1.25
  }

  private func isSamePlace(_ tpv: TPV, as other: TPV) -> Bool {
    (tpv.latitude, tpv.longitude) == (other.latitude, other.longitude)
  }

  /// Whether the receiver repeats a report without a time. At rest all its reports are equal, so it must report a speed.
  private func isFrozen(_ tpv: TPV, like other: TPV) -> Bool {
    isSamePlace(tpv, as: other) && (tpv.speed ?? 0) > Self.moving && tpv.speed == other.speed
      && tpv.track == other.track
  }
}
