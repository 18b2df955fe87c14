import Coverage

/// The usable reports of one receiver for one moment, merged. NMEA receivers cause up to twenty reports a position; the last is the most
/// complete.
struct Epoch {
  /// The longest gap between reports of one moment; the fastest receivers have a position each 50 ms.
  private static let burst = Duration.milliseconds(40)
  /// An epoch is complete after this time without a report of its receiver.
  private static let quiet = Duration.milliseconds(200)
  /// An epoch is complete after this time in any case. It is above 1 s because a slow NMEA receiver needs all of its second.
  static let longest = Duration.milliseconds(1500)

  private(set) var report: TPV
  /// When the first report came.
  let began: ContinuousClock.Instant
  /// When the latest report came.
  private(set) var latest: ContinuousClock.Instant
  /// When the present position came.
  private(set) var positionArrival: ContinuousClock.Instant
  /// The host's wall time when the receiver's time came.
  private(set) var timeArrival: WallTime?

  init(_ report: TPV, at now: HostTime) {
    self.report = report
    began = now.instant
    latest = now.instant
    positionArrival = now.instant
    timeArrival = report.time == nil ? nil : now.wall
  }

  /// Whether a report belongs to this epoch: it has the same time or, where one has no time, the same position or comes at once.
  func includes(_ next: TPV, at now: ContinuousClock.Instant) -> Bool {
    if let time = report.time, let nextTime = next.time { return time == nextTime }
    let isSamePlace = (next.latitude, next.longitude) == (report.latitude, report.longitude)
    return isSamePlace || now <= latest + Self.burst
  }

  mutating func merge(_ next: TPV, at now: HostTime) {
    if report.time == nil, next.time != nil { timeArrival = now.wall }
    if (next.latitude, next.longitude) != (report.latitude, report.longitude) { positionArrival = now.instant }
    report = report.merged(with: next)
    latest = now.instant
  }

  /// When it is complete.
  var deadline: ContinuousClock.Instant { min(latest + Self.quiet, began + Self.longest) }

  /// The receiver's time less the host's.
  var clockDifference: Duration? {
    guard let time = report.time, let timeArrival else { return nil }
    return .microseconds(time.microseconds) - .microseconds(timeArrival.microseconds)
  }
}

extension TPV {
  /// The position; `nil` when it is absent or impossible.
  var coordinate: Coordinate? {
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// Above the mean sea level, else the ellipsoid, in metres; `nil` in two dimensions, and outside
  /// -1,000 to 100,000 m, where no receiver works.
  private var altitude: Double? {
    guard mode >= 3, let altitude = altMSL ?? alt ?? altHAE, (-1_000...100_000).contains(altitude) else { return nil }
    return altitude
  }

  /// The fix for the engine. It has an altitude only in mode 3.
  /// - Parameter speed: The report's speed; `nil` if it is impossible.
  func fix(accuracy: HorizontalAccuracy, speed: Double?) -> Fix {
    Fix(coordinate: coordinate, accuracy: accuracy.metres, altitude: altitude, course: track, speed: speed)
  }

  /// The counter for an unusable report; `nil` for a usable one (docs/protocol.md, 4.4).
  var refusal: PositioningCounters.Counter? {
    guard mode >= 2 else { return .noFix }
    guard let latitude, let longitude else { return .withoutPosition }
    guard coordinate != nil else { return .outOfRange }
    guard latitude != 0 || longitude != 0 else { return .nullIsland }
    return switch status {
    case 7: .surveyed
    case 8: .simulated
    default: nil
    }
  }
}
