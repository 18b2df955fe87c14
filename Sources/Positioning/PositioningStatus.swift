import Coverage
import Logging

/// A change of the connection to gpsd or of the receiver. Each change is reported once, not again with each retry.
public enum PositioningStatus: Hashable, Sendable {
  /// The first attempt has begun.
  case connecting
  /// gpsd answered and its stream has started; with its release, if it gives one.
  case connected(release: String?)
  /// The list of gpsd's receivers changed; these are their paths.
  case devices([String])
  /// Positions come from this receiver.
  case positioned(device: String?)
  /// No usable position for the time of `gpsd.stale-after`; the connection stays open.
  case noFix
  /// Not connected, and trying again; the reason is one line for the operator.
  case disconnected(reason: String)
  /// The receiver's time minus the host's, when it exceeds 2 s and has changed; `nil` when the two agree again.
  case clockDifference(Duration?)
  /// gpsd sent an ERROR report; it goes on after that (docs/protocol.md, 4.2).
  case complaint(String)
}

extension PositioningStatus: CustomStringConvertible {
  /// One line for the log and the operator.
  public var description: String {
    switch self {
    case .connecting: "connecting to gpsd"
    case .connected(let release): "connected to gpsd \(release.map { ForeignText.clean($0) } ?? "of unknown release")"
    case .devices(let paths) where paths.isEmpty: "gpsd has no receiver"
    case .devices(let paths): "gpsd has \(ForeignText.clean(paths.joined(separator: ", ")))"
    case .positioned(let device): "position from \(device.map { ForeignText.clean($0) } ?? "an unnamed receiver")"
    case .noFix: "no usable position"
    case .disconnected(let reason): "no gpsd: \(reason); trying again"
    case .clockDifference(let difference?):
      "the receiver's time differs from the host's by \((difference.inSeconds * 10).rounded() / 10) s"
    case .clockDifference(nil): "the receiver's time agrees with the host's"
    case .complaint(let message): "gpsd says: \(ForeignText.clean(message))"
    }
  }
}

extension PositioningStatus {
  /// A warning for states that the operator has to look at.
  var logLevel: Logger.Level {
    switch self {
    case .disconnected, .noFix, .clockDifference(.some), .complaint: .warning
    case .connecting, .connected, .devices, .positioned, .clockDifference(nil): .info
    }
  }
}
