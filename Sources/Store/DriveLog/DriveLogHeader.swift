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

    /// Settings with the given values.
    public init(interval: Duration, timeout: Duration) {
      (self.interval, self.timeout) = (interval, timeout)
    }
  }

  /// A header with the given values; cuts `started` off to the millisecond.
  public init(
    started: WallTime, initialPath: Path, parameters: Parameters?, pings: Pings? = nil, link: String? = nil,
    target: DriveTarget? = nil, isSealed: Bool = true
  ) {
    self.started = WallTime(microseconds: started.milliseconds.saturatingMultiplied(by: 1000))
    self.initialPath = initialPath
    self.parameters = parameters
    self.pings = pings
    self.link = link
    self.target = target
    self.isSealed = isSealed
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
      "sealed": isSealed ? .bool(true) : nil,
    ])
  }

  /// The settings that the drive was recorded with, by their names in the log; without any, an empty object.
  public var settings: JSON { .object(["parameters": parameters.map(Self.json), "pings": pings.map(Self.json)]) }

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
    case drive
    case started
    case initialPath = "initial_path"
    case parameters
    case pings
    case link
    case target
    case sealed
  }

  private enum ParameterKey: String, CodingKey {
    case minimumRadius = "minimum_radius"
    case accuracyLimit = "accuracy_limit"
    case warningAfter = "warning_after"
    case giveUpAfter = "give_up_after"
    case maximumDuration = "maximum_duration"
    case speedLimit = "speed_limit"
  }

  /// Reads the first line. Unknown members are ignored; `pings`, `link` and `sealed` of a wrong type count as absent.
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
      line.contains(.parameters)
      ? try Self.parameters(line.nestedContainer(keyedBy: ParameterKey.self, forKey: .parameters)) : nil
    // Later additions: one that cannot be read must not make the drive unreadable.
    let pings = try? line.decodeIfPresent(Pings.self, forKey: .pings)
    let link = try? line.decodeIfPresent(String.self, forKey: .link)
    // A target of an unknown protocol is one all the same: such a drive must not be submitted.
    let target =
      line.contains(.target) ? (try? line.decode(TargetValue.self, forKey: .target))?.target ?? .unknown : nil
    let isSealed = (try? line.decodeIfPresent(Bool.self, forKey: .sealed)) ?? false
    self.init(
      started: started, initialPath: initialPath, parameters: parameters, pings: pings, link: link,
      target: target, isSealed: isSealed)
  }

  private static func parameters(_ values: KeyedDecodingContainer<ParameterKey>) throws -> Parameters {
    var parameters = Parameters()
    func seconds(_ key: ParameterKey) throws -> Duration? {
      try values.decodeIfPresent(Double.self, forKey: key).flatMap { DriveTime(seconds: $0) }?.sinceStart
    }
    parameters.minimumRadius =
      try values.decodeIfPresent(Double.self, forKey: .minimumRadius) ?? parameters.minimumRadius
    parameters.accuracyLimit =
      try values.decodeIfPresent(Double.self, forKey: .accuracyLimit) ?? parameters.accuracyLimit
    parameters.warningAfter = try seconds(.warningAfter) ?? parameters.warningAfter
    parameters.giveUpAfter = try seconds(.giveUpAfter) ?? parameters.giveUpAfter
    parameters.maximumDuration = try seconds(.maximumDuration) ?? parameters.maximumDuration
    // Earlier versions had no speed limit.
    parameters.speedLimit = try values.decodeIfPresent(Double.self, forKey: .speedLimit)
    return parameters
  }
}

extension DriveLogHeader {
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

extension DriveLogHeader.Pings: Decodable {
  private enum Key: String, CodingKey {
    case interval, timeout
  }

  /// Reads the member `pings`.
  /// - Throws: `DecodingError` for an interval or a timeout that is not above zero.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    func seconds(_ key: Key) throws -> Duration {
      guard let time = DriveTime(seconds: try values.decode(Double.self, forKey: key)), time > .start else {
        throw DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "not a duration above zero")
      }
      return time.sinceStart
    }
    self.init(interval: try seconds(.interval), timeout: try seconds(.timeout))
  }
}
