import Coverage

/// The usable reports of one receiver for one moment. NMEA receivers cause up to twenty for one position, the last the fullest.
struct Epoch {
  private(set) var report: TPV
  /// When its first report came.
  let began: ContinuousClock.Instant
  /// When its latest report came.
  private(set) var latest: ContinuousClock.Instant
  /// When the position came that the epoch has now.
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

  /// Reports of one moment come within this of each other; the fastest receivers have a position each 50 ms.
  private static let burst = Duration.milliseconds(40)

  /// Equal times belong together. A report without time belongs to what is there if it says the same place, or comes at once.
  func takes(_ next: TPV, at now: ContinuousClock.Instant) -> Bool {
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

  /// The receiver's time less the host's.
  var clockDifference: Duration? {
    guard let time = report.time, let timeArrival else { return nil }
    return .microseconds(time.microseconds) - .microseconds(timeArrival.microseconds)
  }
}

extension TPV {
  /// Where, if the figures are those of a place.
  var coordinate: Coordinate? {
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// A fix as the engine wants it; altitude only when the receiver solved for it (mode 3), course only within the circle.
  /// - Parameter speed: What to believe of the report's.
  func fix(accuracy: HorizontalAccuracy, speed: Double?) -> Fix {
    Fix(
      coordinate: coordinate, accuracy: accuracy.metres, altitude: mode >= 3 ? altMSL ?? alt ?? altHAE : nil,
      course: track.flatMap { $0 <= 360 ? $0 : nil }, speed: speed)
  }

  /// The counter of the reason for which this report is of no use; `nil` when it is usable (spec/gpsd.md 4).
  var refusal: WritableKeyPath<PositioningCounters, Int>? {
    guard mode >= 2 else { return \.noFix }
    guard let latitude, let longitude else { return \.withoutPosition }
    guard coordinate != nil else { return \.outOfRange }
    guard latitude != 0 || longitude != 0 else { return \.nullIsland }
    return status == 8 ? \.simulated : nil
  }
}
