import Coverage
import Pinging
import Settings

/// How a drive measures, the same on all of its links but for ``links``.
public struct DriveOptions: Sendable {
  /// At least one.
  public var links: [LinkSettings]
  /// For the fences.
  public var parameters: Parameters
  public var recovery: RecoveryPolicy
  /// From ping to ping.
  public var pingInterval: Duration
  /// A ping that is not answered within it is lost.
  public var pingTimeout: Duration
  /// `nil`: as the control server says.
  public var pingFamily: PingAddress.Family?
  public var writesLog: Bool
  /// Where the pings are captured as packets; `nil`: nowhere.
  public var capture: CaptureSettings?

  public init(
    links: [LinkSettings], parameters: Parameters = Parameters(), recovery: RecoveryPolicy = RecoveryPolicy(),
    pingInterval: Duration = .milliseconds(100), pingTimeout: Duration = .seconds(1),
    pingFamily: PingAddress.Family? = nil, writesLog: Bool = true, capture: CaptureSettings? = nil
  ) {
    (self.links, self.parameters, self.recovery) = (links, parameters, recovery)
    (self.pingInterval, self.pingTimeout, self.pingFamily) = (pingInterval, pingTimeout, pingFamily)
    (self.writesLog, self.capture) = (writesLog, capture)
  }
}
