import Coverage
import OrderedJSON

/// The first line of a drive log (docs/drive-log.md).
public struct DriveLogHeader: Hashable, Sendable {
  /// The wall time of the drive's start, cut off to the millisecond.
  public let started: WallTime
  /// The kind of link at the start.
  public let initialPath: Path
  /// The parameters of the engine; absent in logs of other programs.
  public let parameters: Parameters?
  /// The settings of the pings; absent in logs of other programs.
  public let pings: Pings?
  /// The name of the measured link; `nil` in a drive over one link.
  public let link: String?
  /// The user's own target of the pings; `nil`: the control server's.
  public let target: DriveTarget?
  /// What the operator declared in place of the kernel and the modem: `network` as `network.source` has it, `radio` as `radio.source`.
  let declared: [String: String]
  /// Whether the log has seals (``Seal``), lines with a checksum of the lines before them. Logs of earlier builds have none.
  let isSealed: Bool

  /// The parameters with which an engine reckons the drive's fences again: the standard ones where the header has none.
  public var engineParameters: Parameters {
    var engine = parameters ?? Parameters()
    if let pings { engine.pingInterval = pings.interval }
    return engine
  }

  /// The settings of the pings, which `verify` needs.
  public struct Pings: Hashable, Sendable {
    /// The interval at which pings are sent; above zero.
    public let interval: Duration
    /// How long a ping waits for its answer; above zero.
    public let timeout: Duration

    public init(interval: Duration, timeout: Duration) { (self.interval, self.timeout) = (interval, timeout) }
  }

  /// Cuts `started` off to the millisecond.
  public init(
    started: WallTime, initialPath: Path, parameters: Parameters?, pings: Pings? = nil, link: String? = nil,
    target: DriveTarget? = nil, declared: [String: String] = [:], isSealed: Bool = true
  ) {
    self.started = WallTime(microseconds: started.milliseconds.saturatingMultiplied(by: 1000))
    (self.initialPath, self.parameters, self.pings) = (initialPath, parameters, pings)
    (self.link, self.target, self.declared, self.isSealed) = (link, target, declared, isSealed)
  }

  var json: JSON {
    .object([
      "drive": 1,
      "started": .string(started.iso8601),
      "link": link.map(JSON.string),
      "initial_path": .string(initialPath.rawValue),
      "parameters": parameters.map(Self.json),
      "pings": pings.map(Self.json),
      "target": target.map { target in
        .object([
          "protocol": .string(target.kind.rawValue), "host": .string(target.host),
          "port": target.port.map { .integer(Int64($0)) },
        ])
      },
      "declared": declaredJSON,
      "sealed": isSealed ? .bool(true) : nil,
    ])
  }

  /// The settings that the drive was recorded with, by their names in the log; without any, an empty object.
  public var settings: JSON {
    .object([
      "parameters": parameters.map(Self.json), "pings": pings.map(Self.json), "declared": declaredJSON,
    ])
  }

  private var declaredJSON: JSON? {
    declared.isEmpty
      ? nil : .object(["network": declared["network"].map(JSON.string), "radio": declared["radio"].map(JSON.string)])
  }

  private static func json(_ pings: Pings) -> JSON {
    .object(["interval": .seconds(pings.interval), "timeout": .seconds(pings.timeout)])
  }

  private static func json(_ parameters: Parameters) -> JSON {
    .object([
      "minimum_radius": .number(parameters.minimumRadius),
      "accuracy_limit": .number(parameters.accuracyLimit),
      "warning_after": .seconds(parameters.warningAfter),
      "give_up_after": .seconds(parameters.giveUpAfter),
      "maximum_duration": .seconds(parameters.maximumDuration),
      "speed_limit": parameters.speedLimit.map(JSON.number),
    ])
  }
}

extension DriveLogHeader: Decodable {
  private enum Key: String, CodingKey {
    case drive, started, parameters, pings, link, target, declared, sealed
    case initialPath = "initial_path"
  }

  private enum DeclaredKey: String, CodingKey, CaseIterable { case network, radio }

  /// Reads the first line. Unknown members are ignored; `pings`, `link`, `declared` and `sealed` of a wrong type count as absent.
  /// - Throws: ``DriveLogError`` and `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let line = try decoder.container(keyedBy: Key.self)
    guard let version = try line.decodeIfPresent(Int.self, forKey: .drive) else {
      throw DriveLogError.notADriveLog
    }
    guard version == 1 else { throw DriveLogError.unsupportedVersion(version) }
    let text = try line.decode(String.self, forKey: .started)
    guard let started = WallTime(iso8601: text) else { throw DriveLogError.badStart(text) }
    let path = try line.decodeIfPresent(String.self, forKey: .initialPath) ?? Path.cellular.rawValue
    guard let initialPath = Path(rawValue: path) else { throw DriveLogError.badPath(path) }
    let parameters =
      line.contains(.parameters) ? try line.decode(ParameterValues.self, forKey: .parameters).parameters : nil
    // Later additions: one that cannot be read must not make the drive unreadable.
    let pings = (try? line.decodeIfPresent(PingValues.self, forKey: .pings))?.pings
    let link = try? line.decodeIfPresent(String.self, forKey: .link)
    // A target of an unknown protocol is one all the same: such a drive must not be submitted.
    let target =
      line.contains(.target) ? (try? line.decode(TargetValue.self, forKey: .target))?.target ?? .unknown : nil
    let words = try? line.nestedContainer(keyedBy: DeclaredKey.self, forKey: .declared)
    let declared = DeclaredKey.allCases.reduce(into: [String: String]()) { declared, key in
      declared[key.rawValue] = (try? words?.decodeIfPresent(String.self, forKey: key)) ?? nil
    }
    let isSealed = (try? line.decodeIfPresent(Bool.self, forKey: .sealed)) ?? false
    self.init(
      started: started, initialPath: initialPath, parameters: parameters, pings: pings, link: link,
      target: target, declared: declared, isSealed: isSealed)
  }

  /// The value of `parameters`.
  private struct ParameterValues: Decodable {
    let minimum_radius, accuracy_limit, warning_after, give_up_after, maximum_duration, speed_limit: Double?

    var parameters: Parameters {
      var parameters = Parameters()
      func duration(_ seconds: Double?) -> Duration? { seconds.flatMap { DriveTime(seconds: $0) }?.sinceStart }
      parameters.minimumRadius = minimum_radius ?? parameters.minimumRadius
      parameters.accuracyLimit = accuracy_limit ?? parameters.accuracyLimit
      parameters.warningAfter = duration(warning_after) ?? parameters.warningAfter
      parameters.giveUpAfter = duration(give_up_after) ?? parameters.giveUpAfter
      parameters.maximumDuration = duration(maximum_duration) ?? parameters.maximumDuration
      // Earlier versions had no speed limit.
      parameters.speedLimit = speed_limit
      return parameters
    }
  }

  /// The value of `pings`; `nil` for an interval or a timeout that is not above zero.
  private struct PingValues: Decodable {
    let interval, timeout: Double

    var pings: Pings? {
      guard let interval = DriveTime(seconds: interval), let timeout = DriveTime(seconds: timeout),
        interval > .start, timeout > .start
      else { return nil }
      return Pings(interval: interval.sinceStart, timeout: timeout.sinceStart)
    }
  }

  /// The value of `target`.
  private struct TargetValue: Decodable {
    let `protocol`: String
    let host: String
    let port: UInt16?

    var target: DriveTarget? {
      DriveTarget.Kind(rawValue: self.protocol).map {
        DriveTarget($0, host: ForeignText.clean(host, limit: 253), port: port)
      }
    }
  }
}

extension DriveTarget {
  /// The log names a target that this version does not know.
  fileprivate static let unknown = DriveTarget(.icmp, host: "unknown")
}
