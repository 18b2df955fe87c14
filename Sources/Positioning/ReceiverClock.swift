import Coverage

/// What a receiver with a fix says the time is, beside the moment when it said so: a witness for the host's clock.
///
/// Every receiver that reports a fix has its own, the one that the positions come from or not. Nothing here has been judged: dates are
/// wrong by 1024 weeks, or by whole seconds before the leap second is known (spec/gpsd.md 4).
public struct ReceiverClock: Hashable, Sendable {
  /// gpsd's path of the receiver; `nil` where the server does not say.
  public let device: String?
  /// The receiver's time (UTC), from the report's `time`.
  public let time: WallTime
  /// When that report reached this host, on CLOCK_BOOTTIME: 0.1 s to 1 s after `time`, as a rule.
  public let arrival: ContinuousClock.Instant
  /// Whether the fixes come from this receiver.
  public let isChosen: Bool

  public init(device: String?, time: WallTime, arrival: ContinuousClock.Instant, isChosen: Bool) {
    self.device = device
    self.time = time
    self.arrival = arrival
    self.isChosen = isChosen
  }
}

/// Chooses which times are handed out: each new one, but not more than one a second and receiver. A pure value.
struct ReceiverClocks {
  private static let interval = Duration.milliseconds(900)
  /// More than any gpsd has; so that a server that makes up devices does not fill the memory.
  private static let maximumCount = 64

  private var latest: [String?: (time: WallTime, arrival: ContinuousClock.Instant)] = [:]

  /// - Returns: Nothing for a report without a fix or a time, or with one that was handed out.
  mutating func note(_ report: TPV, isChosen: Bool, at now: ContinuousClock.Instant) -> [PositioningEvent] {
    guard report.mode >= 2, let time = report.time else { return [] }
    if let last = latest[report.device] {
      guard last.time != time, now >= last.arrival + Self.interval else { return [] }
    } else if latest.count >= Self.maximumCount {
      return []
    }
    latest[report.device] = (time, now)
    return [.clock(ReceiverClock(device: report.device, time: time, arrival: now, isChosen: isChosen))]
  }
}
