import Coverage

/// The receiver from which fixes come, with its open epoch and, for recognising reports that repeat it, the last complete one. A pure
/// value.
struct ChosenReceiver {
  /// In metres a second: above this speed the position must change.
  private static let moving = 1.0

  let device: String?
  /// The accuracy of the last fix.
  var accuracy: Double?
  /// The open epoch.
  var epoch: Epoch?
  /// After a loss, until an epoch is complete: the reports may have been buffered.
  var isCatchingUp = false
  /// The merged report of the last complete epoch.
  private var last: TPV?
  /// The receiver's time of the last complete epoch that had one, with the beginning of that epoch.
  private var time: (value: WallTime, began: ContinuousClock.Instant)?

  init(device: String?) { self.device = device }

  mutating func closeEpoch() -> Epoch? {
    guard let epoch else { return nil }
    (self.epoch, isCatchingUp, last) = (nil, false, epoch.report)
    if let value = epoch.report.time { time = (value, epoch.began) }
    return epoch
  }

  /// The counter for a `tpv` that is not a new position; `nil` when it can be one.
  func refusal(of tpv: TPV, at now: ContinuousClock.Instant) -> PositioningCounters.Counter? {
    guard let last else { return nil }
    if let time, tpv.time == time.value {
      // Interleaved sentences belong to the epoch before.
      if now < time.began + Epoch.longest { return .stragglers }
      return isSamePlace(tpv, as: last) ? .repeated : nil
    }
    return tpv.time == nil && isFrozen(tpv, like: last) ? .repeated : nil
  }

  /// Whether the receiver's time is still that of the last complete epoch.
  func standsStill(_ tpv: TPV) -> Bool { time != nil && tpv.time == time?.value }

  /// Whether the open epoch is old. After this host was suspended, or too busy to read, buffered reports come at once, and only the last of
  /// them are current. The receiver's time then runs at least fifty times as fast as the host's; its date does not matter. Two positions
  /// from one read have the same host time, and the fence between them would have no duration: the second one is used.
  func isOvertaken(by tpv: TPV, at now: ContinuousClock.Instant) -> Bool {
    guard let epoch, let time = epoch.report.time, let next = tpv.time, next > time else { return false }
    let step = Duration.microseconds(next.microseconds) - .microseconds(time.microseconds)
    guard step < .seconds(43_200) else { return false }
    if epoch.began == now { return true }
    guard isCatchingUp || isAtItsPace(until: next, now) else { return false }
    return step > (now - epoch.latest) * 50
  }

  /// Whether the receiver's time has run at the host's pace since the last complete epoch, except for jitter. In a recording that is played
  /// fast, it runs faster.
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
