import Coverage

/// The latest dilutions and standard deviations of a receiver: SKY and GST come as separate reports beside the positions.
struct ErrorMemory {
  /// The largest number of dilutions.
  private static let count = 4
  /// How long a dilution can belong to a position.
  private static let reach = Duration.seconds(10)
  /// Receivers with GST send it each second.
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

  /// The error figures of a position report that came at `now`.
  func figures(of report: TPV, driver: String?, at now: ContinuousClock.Instant) -> ErrorFigures {
    ErrorFigures(
      eph: report.eph, epx: report.epx, epy: report.epy, status: report.status, driver: driver,
      dilutions: dilutions.filter { now < $0.arrival + Self.reach }.map(\.dilution),
      gst: gst.flatMap { now < $0.arrival + Self.lifeOfGST ? $0.report : nil })
  }
}
