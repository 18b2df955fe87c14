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
  ) -> PositioningCounters.Counter? {
    guard let last else { return nil }
    if let time, tpv.time == time.value {
      // Interleaved sentences belong to the epoch before.
      if now < time.began + longestEpoch { return .stragglers }
      return isSamePlace(tpv, as: last.report) ? .repeated : nil
    }
    return tpv.time == nil && isFrozen(tpv, like: last.report) ? .repeated : nil
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

/// The timeouts and intervals of the client. Tests shorten them.
struct Timings: Hashable, Sendable {
  /// The time limit of the TCP connection, for all addresses of the host together.
  var connection: Duration = .seconds(5)
  /// The time limit for gpsd's greeting, its first line to each client. gpsd is silent while it opens a device for another client; 5.1 s
  /// have been measured. A dead connection looks the same, so further attempts wait no longer.
  var greeting: Duration = .seconds(7)
  /// The time limit for gpsd's echo of WATCH, when gpsd opens its devices. It doubles with each attempt that ends this way, up to
  /// ``longestPatience``, so that a slow gpsd gets enough time.
  var handshake: Duration = .seconds(8)
  /// After this time without a report, the client sends gpsd a question. It doubles with each unanswered question, up to
  /// ``longestSilence``.
  var silence: Duration = .seconds(5)
  /// After this time without a report since the question, the connection counts as dead.
  var answer: Duration = .seconds(2)
  /// The longest ``silence``. With ``answer`` it is the time after which a dead connection is left, however often it was dead before.
  var longestSilence: Duration = .seconds(8)
  /// The longest ``handshake``.
  var longestPatience: Duration = .seconds(30)
  /// The pause before the second attempt; it doubles with each further one. An attempt that waited in vain for an answer needs no pause.
  var firstRetry: Duration = .seconds(1)
  /// The longest pause between attempts.
  var longestRetry: Duration = .seconds(10)
  /// The longest pause between attempts when gpsd is on this host, where attempts disturb no other host.
  var longestLocalRetry: Duration = .seconds(5)
  /// An epoch is complete after this time without a report of its receiver.
  var epochQuiet: Duration = .milliseconds(200)
  /// An epoch is complete after this time in any case. It is above 1 s because a slow NMEA receiver needs all of its second.
  var longestEpoch: Duration = .milliseconds(1500)
  /// The interval at which changed counters are delivered.
  var account: Duration = .seconds(5)
  /// The interval at which an unchanged state is logged.
  var reminder: Duration = .seconds(60)

  init() {}
}
