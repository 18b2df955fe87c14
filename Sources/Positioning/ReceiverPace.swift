import Coverage

/// Distinguishes a receiver's current positions from old ones, which were buffered while gpsd or this host stood still, or which a server
/// repeats. A pure value; each receiver has its own.
///
/// The receiver's time minus the host's running time (CLOCK_BOOTTIME) is constant except for the delay on the way to this host. The greatest
/// such offset belongs to the shortest delay; a position more than ``tolerance`` behind it is old. Dates do not matter: receivers change
/// theirs by weeks in mid-stream, and a position between others is never a day old (docs/protocol.md, 4.4).
///
/// A stream can begin with a backlog, when nothing is known of the offset. A receiver that begins behind the host's wall clock is therefore
/// believed only when its time has run at the host's pace for ``firstProof``: a backlog runs faster.
struct ReceiverPace {
  enum Verdict: Hashable {
    case current
    /// Old; or the receiver's clock was set back, which shows when it goes on at the host's pace.
    case behind
  }

  /// The largest lag of a current position.
  static let tolerance = Duration.seconds(2)
  /// A clock that was set back is accepted when it has run at the host's pace for this time.
  static let proof = Duration.seconds(10)
  /// A receiver that begins behind the host's wall clock is believed when it has run at the host's pace for this time.
  static let firstProof = Duration.seconds(3)
  /// No buffer on the way holds positions of more than this. A greater difference is a wrong date, or a recording that is played.
  private static let longestBacklog = Duration.seconds(3600)
  /// The largest change of the offset of a clock that runs at the host's pace.
  private static let jitter = Duration.milliseconds(500)
  private static let day = 86_400.0

  /// Consecutive times that run at the host's pace.
  private struct Trend {
    /// The greatest offset so far, which decays slowly.
    var offset: Duration
    var firstOffset: Duration
    var since: ContinuousClock.Instant
    var last: ContinuousClock.Instant
    var count = 1

    init(_ offset: Duration, at now: ContinuousClock.Instant) {
      (self.offset, firstOffset, since, last) = (offset, offset, now, now)
    }

    var age: Duration { last - since }
    /// Whether the trend is long enough to compare with; a recording that is played fast has no such trend.
    var isSteady: Bool { age >= .seconds(1) }
  }

  /// Whether positions count as current without further proof. Never reset: a later stall is compared with the current trend.
  private var isEstablished = false
  private var origin: ContinuousClock.Instant?
  private var current: Trend?
  /// A trend with another offset, which replaces the current one when it is proved.
  private var candidate: Trend?

  /// Checks a position.
  /// - Parameter time: The receiver's time in the first report of an epoch.
  mutating func check(_ time: WallTime, at now: HostTime) -> Verdict {
    let origin = origin ?? now.instant
    self.origin = origin
    let offset = .microseconds(time.microseconds) - (now.instant - origin)
    guard let trend = current else {
      current = Trend(offset, at: now.instant)
      return believed(time, now.wall)
    }
    let lag = Self.lag(of: offset, behind: trend, at: now.instant)
    if lag.magnitude <= Self.tolerance {
      current = Self.extend(trend, lag: lag, at: now.instant)
      candidate = nil
      return believed(time, now.wall)
    }
    follow(offset, at: now.instant)
    if !trend.isSteady || isProved(lag: lag, time, now.wall) {
      (current, candidate) = (candidate, nil)
      return believed(time, now.wall)
    }
    return lag > .zero || !isEstablished ? .behind : .current
  }

  /// The verdict on a position of the current trend.
  private mutating func believed(_ time: WallTime, _ wall: WallTime) -> Verdict {
    if isEstablished { return .current }
    let behind = Duration.microseconds(wall.microseconds) - .microseconds(time.microseconds)
    let canBeBacklog = behind > Self.tolerance && behind <= Self.longestBacklog
    isEstablished = !canBeBacklog || (current?.age ?? .zero) >= Self.firstProof
    return isEstablished ? .current : .behind
  }

  /// How far the offset is behind the trend. A lag of days that the time since the last position does not explain is a change of the date:
  /// only its remainder counts.
  private static func lag(of offset: Duration, behind trend: Trend, at now: ContinuousClock.Instant) -> Duration {
    let lag = trend.offset - offset
    guard lag.magnitude > .seconds(43_200), lag.magnitude > now - trend.last + .seconds(60) else { return lag }
    let days = (lag.inWholeSeconds / day).rounded()
    return lag - .seconds(Int64(days * day))
  }

  /// Extends the trend. When all positions come later, as over a link that has become slower, the offset decays by 10 ms a second.
  private static func extend(_ trend: Trend, lag: Duration, at now: ContinuousClock.Instant) -> Trend {
    var trend = trend
    let forgotten = min(min(now - trend.last, .seconds(10)) / 100, lag)
    trend.offset -= lag < .zero ? lag : max(forgotten, .zero)
    // Step by step, a backlog catches up, too.
    if lag < .zero - jitter || (trend.age < firstProof && trend.offset - trend.firstOffset > jitter) {
      (trend.since, trend.firstOffset) = (now, trend.offset)
    }
    trend.last = now
    trend.count += 1
    return trend
  }

  private mutating func follow(_ offset: Duration, at now: ContinuousClock.Instant) {
    guard var candidate, (offset - candidate.firstOffset).magnitude <= Self.jitter else {
      candidate = Trend(offset, at: now)
      return
    }
    candidate.offset = max(candidate.offset, offset)
    candidate.last = now
    candidate.count += 1
    self.candidate = candidate
  }

  /// Whether the candidate trend is proved: the receiver's clock was set. Forward, positions count at once, but the trend must last before it
  /// rules. Back, it must run at the host's pace for longer, or agree with the host's wall clock, as when the leap seconds become known.
  private func isProved(lag: Duration, _ time: WallTime, _ wall: WallTime) -> Bool {
    guard let candidate else { return false }
    if lag < .zero { return candidate.count >= 3 && candidate.age >= Self.tolerance }
    let difference = Duration.microseconds(time.microseconds) - .microseconds(wall.microseconds)
    if candidate.count >= 2, candidate.age >= Self.jitter, difference.magnitude <= .seconds(1) { return true }
    return candidate.count >= 5 && candidate.age >= Self.proof
  }
}

extension Duration {
  /// The seconds without their fraction.
  fileprivate var inWholeSeconds: Double { Double(components.seconds) }
}
