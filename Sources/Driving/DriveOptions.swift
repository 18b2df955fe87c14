import Coverage
import Pinging
import Settings

/// How a drive measures: the same on all links, except ``links``.
public struct DriveOptions: Sendable {
  /// The links to measure; at least one.
  public var links: [LinkSettings]
  /// The parameters of the fence algorithm.
  public var parameters: Parameters
  /// When and how to request another test.
  public var recovery: RecoveryPolicy
  /// Time from one ping to the next.
  public var pingInterval: Duration
  /// A ping without an answer within this time counts as lost.
  public var pingTimeout: Duration
  /// The IP version of pings and requests for tests; `nil`: the one that the control server chooses.
  public var pingFamily: IPVersion?
  /// Whether ModemManager may be asked to report the signal and the cell.
  public var configuresModem: Bool
  /// Whether the pings pause during a speed test.
  public var pausesForTests = true
  /// Whether each drive writes a drive log.
  public var writesLog: Bool
  /// The user's own target of the pings; `nil`: the ping server of the control server's tests.
  public var target: TargetPings?
  /// Where the packets of the pings are captured; `nil`: nowhere.
  public var capture: CaptureSettings?

  /// Values are used as they are: ``ProbeConfiguration`` has checked their ranges.
  public init(
    links: [LinkSettings], parameters: Parameters = Parameters(), recovery: RecoveryPolicy = RecoveryPolicy(),
    pingInterval: Duration = .milliseconds(100), pingTimeout: Duration = .seconds(1),
    pingFamily: IPVersion? = nil, configuresModem: Bool = true, writesLog: Bool = true,
    capture: CaptureSettings? = nil
  ) {
    (self.links, self.parameters, self.recovery) = (links, parameters, recovery)
    (self.pingInterval, self.pingTimeout, self.pingFamily) = (pingInterval, pingTimeout, pingFamily)
    self.configuresModem = configuresModem
    (self.writesLog, self.capture) = (writesLog, capture)
  }

  /// Whether pings may be sent only while a clock is trusted. A test requested with a wrong time, or a token for one, is worthless; a plain
  /// echo is as good as ever, and its fences move when the clock is set.
  var needsClock: Bool { target?.needsClock ?? true }

  /// What a drive in the foreground needs after its start, to open sockets again or anew.
  public var privileges: Privileges {
    capture != nil || links.contains { $0.interface != nil } || target?.needsRawSocket == true ? .recovery : []
  }

  /// The same with the secret of the target, which is read from its file.
  /// - Throws: `InputFileError`, ``TargetSecretError``
  func withSecret() throws -> DriveOptions {
    var options = self
    options.target = try target?.withSecret()
    return options
  }
}
