import Coverage
import Foundation

@testable import Positioning

/// A host whose time is set by the test.
struct TestTime {
  static let origin = ContinuousClock.now
  static let wallOrigin = WallTime(microseconds: 1_600_000_000_000_000)

  static func at(_ seconds: Double) -> HostTime {
    let duration = Duration.microseconds(Int64((seconds * 1e6).rounded()))
    return HostTime(instant: origin + duration, wall: wallOrigin + DriveTime(duration))
  }
}

extension TPV {
  /// A usable three-dimensional report, `seconds` after the wall clock's origin by the receiver's clock.
  static func usable(
    latitude: Double = 48.2, longitude: Double = 16.37, mode: Int = 3, seconds: Double? = nil, device: String? = "gps0",
    eph: Double? = 8.1
  ) -> TPV {
    var tpv = TPV()
    (tpv.latitude, tpv.longitude, tpv.mode, tpv.device, tpv.eph) = (latitude, longitude, mode, device, eph)
    tpv.time = seconds.map { TestTime.wallOrigin + DriveTime(microseconds: Int64($0 * 1e6)) }
    return tpv
  }

  func with(_ change: (inout TPV) -> Void) -> TPV {
    var changed = self
    change(&changed)
    return changed
  }
}

extension Sequence<PositioningEvent> {
  var fixes: [PositionedFix] {
    compactMap { if case .fix(let fix) = $0 { fix } else { nil } }
  }

  var statuses: [PositioningStatus] {
    compactMap { if case .status(let status) = $0 { status } else { nil } }
  }
}

extension FixFilter {
  /// A filter with default timings that starts at the origin of the test's time.
  static func fresh(device: String? = nil) -> FixFilter {
    FixFilter(configuration: .init(device: device), startingAt: TestTime.origin)
  }

  mutating func apply(_ tpv: TPV, at seconds: Double) -> [PositioningEvent] {
    apply(.tpv(tpv), at: TestTime.at(seconds))
  }

  /// The events of these reports, and of the second after them.
  mutating func play(_ reports: [(at: Double, tpv: TPV)]) -> [PositioningEvent] {
    var events: [PositioningEvent] = []
    for report in reports { events += apply(report.tpv, at: report.at) }
    return events + advance(to: (reports.last?.at ?? 0) + 1)
  }

  mutating func advance(to seconds: Double) -> [PositioningEvent] {
    advance(to: TestTime.at(seconds))
  }
}
