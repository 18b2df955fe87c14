import Coverage

/// Selects the receivers' times to deliver: each new time, but at most about one a second and receiver. Reports each change of the
/// difference between the time of the chosen receiver and the host's, once. It sets no clock (docs/protocol.md, 4.4). A pure value.
struct ReceiverClocks {
  private static let interval = Duration.milliseconds(900)
  /// A limit for servers that invent devices; no gpsd has as many receivers.
  private static let maximumCount = 64
  /// Smaller differences are delays on the way.
  private static let tolerance = Duration.seconds(2)

  private var latest: [String?: (time: WallTime, arrival: ContinuousClock.Instant)] = [:]
  private var reportedDifference: Duration?

  /// The event of a report; none for a report without a fix or a time, or with a time that was delivered.
  mutating func note(_ report: TPV, at now: ContinuousClock.Instant) -> [PositioningEvent] {
    guard report.mode >= 2, let time = report.time else { return [] }
    if let last = latest[report.device] {
      guard last.time != time, now >= last.arrival + Self.interval else { return [] }
    } else if latest.count >= Self.maximumCount {
      return []
    }
    latest[report.device] = (time, now)
    return [.clock(ReceiverClock(device: report.device, time: time, arrival: now))]
  }

  /// The event of a change. A drift by up to half of the reported difference is not a change, nor is a difference that varies around the
  /// tolerance.
  mutating func note(_ difference: Duration?) -> [PositioningEvent] {
    guard let difference else { return [] }
    let limit = reportedDifference == nil ? Self.tolerance : Self.tolerance / 2
    let current = difference.magnitude > limit ? difference : nil
    switch (reportedDifference, current) {
    case (nil, nil): return []
    case (let reported?, let current?)
    where (current - reported).magnitude <= max(Self.tolerance, reported.magnitude / 2):
      return []
    default:
      reportedDifference = current
      return [.status(.clockDifference(current))]
    }
  }

  /// Whether the difference exceeds the delay on the way from the receiver.
  static func isOff(_ difference: Duration?) -> Bool { difference.map { $0.magnitude > tolerance } ?? false }
}
