import Coverage

/// The dilutions of precision of a SKY report; no unit, `nil` where gpsd left them out.
public struct Dilution: Hashable, Sendable {
  public var hdop: Double?
  /// Of the longitude.
  public var xdop: Double?
  /// Of the latitude.
  public var ydop: Double?

  public init(hdop: Double?, xdop: Double? = nil, ydop: Double? = nil) {
    (self.hdop, self.xdop, self.ydop) = (hdop, xdop, ydop)
  }
}

/// A GST report: the receiver's own standard deviations, in metres.
public struct GSTReport: Hashable, Sendable {
  public var device: String?
  public var latitude: Double?
  public var longitude: Double?
  /// Of the error ellipse.
  public var major: Double?
  public var minor: Double?

  public init(
    device: String?, latitude: Double? = nil, longitude: Double? = nil, major: Double? = nil, minor: Double? = nil
  ) {
    (self.device, self.latitude, self.longitude, self.major, self.minor) = (device, latitude, longitude, major, minor)
  }

  /// The root of the sum of the squares, which is the same for both pairs; `nil` where the report has neither.
  var horizontal: Double? {
    for pair in [(latitude, longitude), (major, minor)] {
      if let first = HorizontalAccuracy.possible(pair.0), let second = HorizontalAccuracy.possible(pair.1) {
        return (first * first + second * second).squareRoot()
      }
    }
    return nil
  }
}

/// What a receiver said of its errors lately: SKY and GST come in reports of their own, beside the positions that they belong to.
struct ErrorMemory {
  private static let count = 4
  /// Dilutions that an earlier epoch was made with.
  private static let reach = Duration.seconds(10)
  /// Receivers with GST send it each second; one that stops has none.
  private static let lifeOfGST = Duration.milliseconds(1500)

  private var dilutions: [(dilution: Dilution, arrival: ContinuousClock.Instant)] = []
  private var gst: (report: GSTReport, arrival: ContinuousClock.Instant)?

  mutating func note(_ dilution: Dilution, at now: ContinuousClock.Instant) {
    guard dilution.hdop != nil || dilution.xdop != nil else { return }
    dilutions.removeAll { $0.dilution == dilution }
    dilutions.insert((dilution, now), at: 0)
    if dilutions.count > Self.count { dilutions.removeLast() }
  }

  mutating func note(_ report: GSTReport, at now: ContinuousClock.Instant) { gst = (report, now) }

  func figures(of report: TPV, driver: String?, at now: ContinuousClock.Instant) -> ErrorFigures {
    ErrorFigures(
      eph: report.eph, epx: report.epx, epy: report.epy, status: report.status, driver: driver,
      dilutions: dilutions.filter { now < $0.arrival + Self.reach }.map(\.dilution),
      gst: gst.flatMap { now < $0.arrival + Self.lifeOfGST ? $0.report : nil })
  }
}
