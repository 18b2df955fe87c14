import Coverage
import Networking
import Pinging
import SystemServices

/// All settings, with their defaults (docs/configuration.md).
public struct ProbeConfiguration: Sendable {
  /// The directory of the store, the drive logs and the lock; created if it is missing.
  public var stateDirectory = "/var/lib/coverage-probe"
  /// How to reach the control server.
  public var controlServer = ControlServerSettings()
  /// How to reach gpsd.
  public var gpsd = GPSDSettings()
  /// Which positions count, and the size of fences.
  public var location = LocationSettings()
  /// How pings are sent, on every link.
  public var pings = PingSettings()
  /// When and how another test is requested.
  public var recovery = RecoveryPolicy()
  /// Whether the link counts as cellular or Wi-Fi; ``links`` replace it.
  public var network = PathSource.auto
  /// Where the radio technology comes from; ``links`` replace it.
  public var radio = RadioSource.none
  /// Whether ModemManager may be asked to report the signal and the cell: `radio.configure-modem`.
  public var configuresModem = true
  /// Links that are measured side by side; empty: the one link that ``pings``, ``network`` and ``radio`` describe.
  public var links: [LinkSettings] = []
  /// Places whose positions are dropped before any other part reads them.
  public var exclusionZones: [ExclusionZone] = []
  /// How stored fences are submitted.
  public var submission = SubmissionSettings()
  /// The quotas of the state directory.
  public var storage = StorageSettings()
  /// The limits of a drive.
  public var drive = DriveSettings()
  /// When the service records, and where it accepts commands.
  public var agent = ServiceSettings()
  /// How speed tests are made, and the data that they may use.
  public var speedTest = SpeedTestSettings()
  /// When the tests of a loop start.
  public var loop = LoopSettings()
  /// Which differences a report calls different.
  public var report = ReportSettings()
  /// The file that the settings were read from; `nil` without one.
  public internal(set) var file: String?
  /// The texts that the file and the environment set, by key, also those that equal the default. A reload compares them.
  var texts: [String: String] = [:]

  public init() {}

  public struct ControlServerSettings: Sendable {
    /// The base URL without a slash at the end; `nil` until the operator sets it.
    public var url: String?
    /// A PEM file of certificates to trust instead of the system's; `nil`: the system's.
    public var caFile: String?
    /// The limit for one whole request, 1 s to 1 h.
    public var requestTimeout: Duration = .seconds(30)
  }

  public struct GPSDSettings: Sendable {
    /// A name or an address; every address of a name is tried.
    public var host = "127.0.0.1"
    /// A TCP port, 1 to 65535.
    public var port = 2947
    /// The only receiver to use, as gpsd names it; `nil`: the best one.
    public var device: String?
    /// Without a usable position for this long, the position is lost; 500 ms to 1 h.
    public var staleAfter: Duration = .seconds(5)
  }

  public struct LocationSettings: Sendable {
    /// The worst accuracy that counts: a 68 % radius in metres, above 0, at most 10000.
    public var accuracyLimit = Parameters().accuracyLimit
    /// The least radius of a fence in metres, above 0, at most 10000.
    public var minimumRadius = Parameters().minimumRadius
    /// The greatest speed between two positions in m/s; `nil`: positions may jump.
    public var maximumSpeed: Double? = Parameters.fastestTrain
    /// Reported speeds above it count as unknown, in m/s; `nil`: every reported speed counts.
    public var speedLimit = Parameters().speedLimit
    /// Time from the start to the warning about a missing position, 0 s to 1 d.
    public var warningAfter = Parameters().warningAfter
    /// A drive without any accurate position ends after this time, 1 s to 7 d.
    public var giveUpAfter = Parameters().giveUpAfter
  }

  public struct PingSettings: Sendable {
    /// Time between two pings, 10 ms to 1 min.
    public var interval: Duration = .milliseconds(100)
    /// A ping without an answer within this time counts as lost; 10 ms to 1 min.
    public var timeout: Duration = .seconds(1)
    /// The only interface for pings and requests for tests; `nil`: the kernel's choice.
    public var interface: String?
    /// The IP version of pings and requests for tests; `nil`: the control server's choice.
    public var family: IPVersion?
    /// The host to ping instead of the control server's.
    public var target = TargetSettings()
  }

  public struct SubmissionSettings: Sendable {
    /// Unsent fences are deleted at this age, 1 min to 365 d.
    public var maxAge: Duration = .seconds(7 * 86_400)
    /// Sent, refused and Wi-Fi fences are deleted at this age, 1 min to 3650 d.
    public var keep: Duration = .seconds(30 * 86_400)
    /// Fences without a session are sent when they are older than this, 0 s to 365 d.
    public var legacyThreshold: Duration = .seconds(15 * 60)
    /// The first background request waits for a random part of this, 0 s to 1 h.
    public var spread: Duration = .seconds(60)
    /// Upper end of the first wait after trouble, 1 s to 1 d.
    public var backoff: Duration = .seconds(30)
    /// Upper end of the longest wait after trouble, 1 s to 1 d.
    public var backoffMax: Duration = .seconds(300)
    /// This many 429 in a row open the circuit breaker, 1 to 1000.
    public var breakerThreshold = 3
    /// The first wait of the open circuit breaker, 1 s to 1 d.
    public var breakerBackoff: Duration = .seconds(30)
    /// The longest wait of the open circuit breaker, 1 s to 1 d.
    public var breakerBackoffMax: Duration = .seconds(300)
  }

  /// `storage` in the configuration: the quotas of the state directory.
  public struct StorageSettings: Sendable {
    /// In bytes, 16 MiB to 1 TiB.
    public var maxSize: Int64 = 1 << 30
    /// Fences in the store, sent or not, 1000 to 100000000.
    public var maxFences = 1_000_000
  }

  public struct DriveSettings: Sendable {
    /// A drive ends after this time, 1 s to 365 d, or after the server's shorter limit.
    public var maximumDuration = Parameters().maximumDuration
    /// Whether each drive writes a drive log.
    public var log = true
  }

  /// `agent` in the configuration.
  public struct ServiceSettings: Hashable, Sendable {
    /// When the service records without a command.
    public var record = RecordingRule.always
    /// The speed above which the device moves, in m/s, above 0, at most 1000.
    public var startSpeed = 2.0
    /// A drive ends after this time at rest, 1 s to 1 d.
    public var rest: Duration = .seconds(300)
    /// Time between two passes, also during a drive, 10 s to 7 d.
    public var resendInterval: Duration = .seconds(900)
    /// The path of the socket for commands; `nil`: `agent.sock` in the state directory.
    public var socket: String?
    /// The group whose members may ask for the status; `nil`: no group's.
    public var socketGroup: String?
    /// Where the live page is; `nil`: nowhere.
    public var page: HostPort?
    /// The path of the live page's base map, a PMTiles or MBTiles file; `nil`: none.
    public var basemap: String?
    /// When the service makes speed tests.
    public var loop = LoopMode.off
  }

  /// `speedtest` in the configuration.
  public struct SpeedTestSettings: Hashable, Sendable {
    /// Bytes of both directions that tests may use in a calendar day, UTC, 1 MiB to 1 TiB; `nil`: no limit.
    public var dataLimitOfDay: Int64?
    /// Bytes of both directions that tests may use in a calendar month, UTC, 1 MiB to 1 TiB; `nil`: no limit.
    public var dataLimitOfMonth: Int64?
    /// Whether the measurement server's certificate must be valid for its name.
    public var verifiesCertificate = true
    /// Whether the QoS tests of the control server follow each test.
    public var qos = false
    /// Whether the control connections of QoS tests use TLS.
    public var qosTLS = QoSEncryption.auto
    /// What coverage pings do during a test.
    public var coveragePings = CoveragePings.pause
  }

  /// `loop` in the configuration; the ranges are those of both reference apps.
  public struct LoopSettings: Hashable, Sendable {
    /// The number of tests, 1 to 500.
    public var count = 50
    /// The time from the start of a test to the next one, 5 min to 1 d; `nil`: time does not count.
    public var every: Duration? = .seconds(15 * 60)
    /// The distance in metres from the start of a test to the next one, 25 to 10000; `nil`: distance does not count.
    public var distance: Double? = 250
    /// The longest duration of a loop, 1 min to 2 d.
    public var duration: Duration = .seconds(48 * 3600)
    /// Whether a loop goes on after a restart.
    public var resumes = true
    /// Whether tests start on other links than those of mobile networks.
    public var allowsOtherLinks = false
    /// A program that runs when a test is due and cannot start; `nil`: none.
    public var hook: String?
  }

  /// `report.least-difference` in the configuration: smaller differences are not called different.
  public struct ReportSettings: Hashable, Sendable {
    /// Of delays, 0 s to 10 s.
    public var leastDelay: Duration = .milliseconds(5)
    /// Of losses, in percentage points, 0 to 100.
    public var leastLoss = 1.0
    /// Of shares of the distance with coverage, in percentage points, 0 to 100.
    public var leastCoverage = 2.0
  }

  /// Where the service listens for commands.
  public var servicePath: String { agent.socket ?? stateDirectory + "/agent.sock" }

  /// The links of a drive, at least one.
  public var driveLinks: [LinkSettings] {
    links.isEmpty ? [LinkSettings(name: nil, interface: pings.interface, network: network, radio: radio)] : links
  }

  /// The settings that the fence algorithm needs. A replay sets them to those of the drive log, before a file and the
  /// environment can replace them.
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
