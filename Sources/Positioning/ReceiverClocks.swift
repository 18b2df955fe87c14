import Coverage

/// Selects the receivers' times to deliver: each new time, but at most about one a second and receiver. A pure value.
struct ReceiverClocks {
  private static let interval = Duration.milliseconds(900)
  /// A limit for servers that invent devices; no gpsd has as many receivers.
  private static let maximumCount = 64

  private var latest: [String?: (time: WallTime, arrival: ContinuousClock.Instant)] = [:]

  /// The event of a report; none for a report without a fix or a time, or with a time that was delivered.
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
