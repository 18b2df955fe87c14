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
  /// How the accuracy was made.
  public let accuracyRule: AccuracyRule
  /// gpsd's path of the receiver; `nil` where the server does not say.
  public let device: String?
  /// gpsd's name for the receiver's driver; `nil` where the server does not say.
  public let driver: String?
  /// The epoch's reports, merged, as gpsd gave them: error estimates unscaled. `nil` for a lost fix.
  public let report: TPV?
  /// The dilutions of precision of the sky view that was current.
  public let dilution: Dilution?
  /// The receiver's standard deviations, where it reports them.
  public let gst: GSTReport?
  /// A speed that cannot be, metres a second: the fix has none.
  public let refusedSpeed: Double?
  /// The receiver's time less the host's. An extra figure: receivers' dates are wrong too often to be used (spec/gpsd.md 4).
  public let clockDifference: Duration?

  public init(
    fix: Fix, arrival: ContinuousClock.Instant, delivered: ContinuousClock.Instant? = nil,
    accuracyRule: AccuracyRule = .none, device: String? = nil, driver: String? = nil, report: TPV? = nil,
    dilution: Dilution? = nil, gst: GSTReport? = nil, refusedSpeed: Double? = nil, clockDifference: Duration? = nil
  ) {
    self.fix = fix
    self.arrival = arrival
    self.delivered = delivered ?? arrival
    self.accuracyRule = accuracyRule
    self.device = device
    self.driver = driver
    self.report = report
    self.dilution = dilution
    self.gst = gst
    self.refusedSpeed = refusedSpeed
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
    case .connected(let release): "connected to gpsd \(release.map { ForeignText.clean($0) } ?? "of unknown release")"
    case .devices(let paths) where paths.isEmpty: "gpsd has no receiver"
    case .devices(let paths): "gpsd has \(ForeignText.clean(paths.joined(separator: ", ")))"
    case .positioned(let device): "position from \(device.map { ForeignText.clean($0) } ?? "an unnamed receiver")"
    case .noFix: "no usable position"
    case .disconnected(let reason): "no gpsd: \(reason); trying again"
    case .clockDifference(let difference?): "the receiver's time differs from the host's by \(difference.inSeconds) s"
    case .clockDifference(nil): "the receiver's time agrees with the host's"
    case .complaint(let message): "gpsd says: \(ForeignText.clean(message))"
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
