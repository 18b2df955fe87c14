import Coverage
import Logging

/// What the positioning tells the drive, in the order in which it happened on this host.
public enum PositioningEvent: Hashable, Sendable {
  /// A position, or ``Coverage/Fix/lost`` once when the receiver has given none for too long.
  case fix(PositionedFix)
  /// Something about the way to the receiver changed.
  case status(PositioningStatus)
  /// What was received and refused so far; when it has changed, every few seconds, and once at the end.
  case counters(PositioningCounters)
  /// A receiver's time beside this host's, about once a second from each receiver that has a fix.
  case clock(ReceiverClock)
}

/// A fix with where it came from. What the receiver said is kept beside what was made of it.
public struct PositionedFix: Hashable, Sendable {
  /// The fix for the engine; its accuracy is a 68 % radius.
  public let fix: Fix
  /// When the position reached this host (age counts from here). For a lost fix the moment when that was noticed.
  public let arrival: ContinuousClock.Instant
  /// When the epoch was complete and the fix handed out; never before `arrival`, and never before an earlier fix's.
  public let delivered: ContinuousClock.Instant
  /// Where the accuracy came from.
  public let accuracySource: AccuracySource
  /// gpsd's path of the receiver; `nil` where the server does not say.
  public let device: String?
  /// The epoch's reports, merged, as gpsd gave them: error estimates unscaled. `nil` for a lost fix.
  public let report: TPV?
  /// The horizontal dilution of precision of the sky view that was current; no unit.
  public let hdop: Double?
  /// The receiver's time less the host's. An extra figure: receivers' dates are wrong too often to be used (spec/gpsd.md 4).
  public let clockDifference: Duration?

  public init(
    fix: Fix, arrival: ContinuousClock.Instant, delivered: ContinuousClock.Instant? = nil,
    accuracySource: AccuracySource = .none, device: String? = nil, report: TPV? = nil, hdop: Double? = nil,
    clockDifference: Duration? = nil
  ) {
    self.fix = fix
    self.arrival = arrival
    self.delivered = delivered ?? arrival
    self.accuracySource = accuracySource
    self.device = device
    self.report = report
    self.hdop = hdop
    self.clockDifference = clockDifference
  }
}

/// A change on the way to the receiver. Each is told once, when it happens, not again with every retry.
public enum PositioningStatus: Hashable, Sendable {
  /// The first attempt has begun.
  case connecting
  /// gpsd answered and its stream is switched on. `nil`: a server that does not tell its release.
  case connected(release: String?)
  /// The receivers that gpsd has changed.
  case devices([String])
  /// Positions come from this receiver.
  case positioned(device: String?)
  /// No usable position for the time of `stale-after`; the connection is kept.
  case noFix
  /// Not connected, for this reason, and trying again; one line for a person.
  case disconnected(reason: String)
  /// The receiver's time less the host's, when that is above 2 s and has changed; `nil` when they agree again.
  case clockDifference(Duration?)
  /// gpsd complained; advisory (spec/gpsd.md 2).
  case complaint(String)
}

extension PositioningStatus: CustomStringConvertible {
  /// One line for a log or a person.
  public var description: String {
    switch self {
    case .connecting: "connecting to gpsd"
    case .connected(let release): "connected to gpsd \(release ?? "of unknown release")"
    case .devices(let paths) where paths.isEmpty: "gpsd has no receiver"
    case .devices(let paths): "gpsd has \(paths.joined(separator: ", "))"
    case .positioned(let device): "position from \(device ?? "an unnamed receiver")"
    case .noFix: "no usable position"
    case .disconnected(let reason): "no gpsd: \(reason); trying again"
    case .clockDifference(let difference?): "the receiver's time differs from the host's by \(difference.inSeconds) s"
    case .clockDifference(nil): "the receiver's time agrees with the host's"
    case .complaint(let message): "gpsd says: \(message)"
    }
  }
}

extension PositioningStatus {
  /// What a person has to look at is a warning.
  var logLevel: Logger.Level {
    switch self {
    case .disconnected, .noFix, .clockDifference(.some), .complaint: .warning
    case .connecting, .connected, .devices, .positioned, .clockDifference(nil): .info
    }
  }
}
