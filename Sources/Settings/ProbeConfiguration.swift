import Coverage
import NetworkPath
import Pinging

/// All settings, with their defaults (docs/configuration.md).
public struct ProbeConfiguration: Sendable {
  public var stateDirectory = "/var/lib/coverage-probe"
  public var controlServer = ControlServerSettings()
  public var gpsd = GPSDSettings()
  public var location = LocationSettings()
  public var pings = PingSettings()
  public var recovery = RecoveryPolicy()
  public var network = PathSource.auto
  public var radio = RadioSource.none
  /// Links that are measured side by side; empty: the one that ``pings``, ``network`` and ``radio`` describe.
  public var links: [LinkSettings] = []
  public var exclusionZones: [ExclusionZone] = []
  public var submission = SubmissionSettings()
  public var storage = StorageSettings()
  public var drive = DriveSettings()
  public var agent = ServiceSettings()
  /// The file that it was read from.
  public internal(set) var file: String?
  /// The texts of all settings that are not defaults, by key.
  var texts: [String: String] = [:]

  public init() {}

  public struct ControlServerSettings: Sendable {
    /// Without a slash at the end; `nil` until the operator sets it.
    public var url: String?
    public var caFile: String?
    public var requestTimeout: Duration = .seconds(30)
  }

  public struct GPSDSettings: Sendable {
    public var host = "127.0.0.1"
    public var port = 2947
    public var device: String?
    public var staleAfter: Duration = .seconds(5)
  }

  public struct LocationSettings: Sendable {
    public var accuracyLimit = Parameters().accuracyLimit
    public var minimumRadius = Parameters().minimumRadius
    /// Metres a second; `nil`: positions may jump.
    public var maximumSpeed: Double? = Parameters.fastestTrain
    /// Metres a second; `nil`: every reported speed counts.
    public var speedLimit = Parameters().speedLimit
    public var warningAfter = Parameters().warningAfter
    public var giveUpAfter = Parameters().giveUpAfter
  }

  public struct PingSettings: Sendable {
    public var interval: Duration = .milliseconds(100)
    public var timeout: Duration = .seconds(1)
    public var interface: String?
    public var family: PingAddress.Family?
  }

  public struct SubmissionSettings: Sendable {
    public var maxAge: Duration = .seconds(7 * 86_400)
    public var keep: Duration = .seconds(30 * 86_400)
    public var legacyThreshold: Duration = .seconds(15 * 60)
    public var spread: Duration = .seconds(60)
    public var backoff: Duration = .seconds(30)
    public var backoffMax: Duration = .seconds(300)
    public var breakerThreshold = 3
    public var breakerBackoff: Duration = .seconds(30)
    public var breakerBackoffMax: Duration = .seconds(300)
  }

  /// Quotas of the state directory.
  public struct StorageSettings: Sendable {
    /// In bytes.
    public var maxSize: Int64 = 1 << 30
    public var maxFences = 1_000_000
  }

  public struct DriveSettings: Sendable {
    public var maximumDuration = Parameters().maximumDuration
    public var log = true
  }

  public struct ServiceSettings: Hashable, Sendable {
    public var record = RecordingRule.always
    /// Metres a second above which the device moves.
    public var startSpeed = 2.0
    /// A drive ends after this time at rest.
    public var rest: Duration = .seconds(300)
    /// Time between two passes while no drive is running.
    public var resendInterval: Duration = .seconds(900)
    /// `nil`: in the state directory.
    public var socket: String?
  }

  /// Where the service listens for commands.
  public var servicePath: String { agent.socket ?? stateDirectory + "/agent.sock" }

  /// The links of a drive, at least one.
  public var driveLinks: [LinkSettings] {
    links.isEmpty ? [LinkSettings(name: nil, interface: pings.interface, network: network, radio: radio)] : links
  }

  /// The engine's part of it.
  public var parameters: Parameters {
    get {
      var parameters = Parameters()
      parameters.minimumRadius = location.minimumRadius
      parameters.accuracyLimit = location.accuracyLimit
      parameters.speedLimit = location.speedLimit
      parameters.warningAfter = location.warningAfter
      parameters.giveUpAfter = location.giveUpAfter
      parameters.maximumDuration = drive.maximumDuration
      parameters.pingInterval = pings.interval
      return parameters
    }
    set {
      location.minimumRadius = newValue.minimumRadius
      location.accuracyLimit = newValue.accuracyLimit
      location.speedLimit = newValue.speedLimit
      location.warningAfter = newValue.warningAfter
      location.giveUpAfter = newValue.giveUpAfter
      drive.maximumDuration = newValue.maximumDuration
      pings.interval = newValue.pingInterval
    }
  }
}
