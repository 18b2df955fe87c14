import Coverage

/// A line from gpsd, as far as this client uses it (docs/protocol.md, 4).
enum GPSDReport: Hashable, Sendable {
  /// gpsd's greeting. Its protocol numbers are inconsistent: 3.27 has 0.16, 3.27.4 has 16.1.
  case version(release: String?)
  /// The echo of a WATCH command.
  case watch(enabled: Bool, json: Bool)
  /// All receivers of gpsd.
  case devices([GPSDDevice])
  /// A receiver that was added, closed or identified.
  case device(GPSDDevice)
  /// A position.
  case tpv(TPV)
  /// The dilutions of precision, and the number of satellites.
  case sky(device: String?, Dilution, Satellites? = nil)
  /// The receiver's own standard deviations.
  case gst(GSTReport)
  /// An ERROR report. gpsd goes on after it.
  case complaint(String)
  /// A class that is not used here.
  case other(String)

  /// `nil` for a line that is not a JSON object with a class.
  init?(line: [UInt8]) {
    guard let object = JSONObject(line[...]), let name = object.string("class") else { return nil }
    switch name {
    case "VERSION": self = .version(release: object.string("release"))
    case "WATCH": self = .watch(enabled: object.bool("enable") ?? false, json: object.bool("json") ?? false)
    case "DEVICES": self = .devices(object.objects("devices").compactMap(GPSDDevice.init))
    case "DEVICE": self = GPSDDevice(object).map(Self.device) ?? .other(name)
    case "TPV": self = .tpv(TPV(object))
    case "SKY": self = .sky(device: object.string("device"), Dilution(object), Satellites(object))
    case "GST": self = .gst(GSTReport(object))
    case "ERROR": self = .complaint(object.string("message") ?? "")
    default: self = .other(name)
    }
  }
}

/// A receiver as gpsd lists it.
struct GPSDDevice: Hashable, Sendable {
  /// The path of a device file, or a URL.
  let path: String
  /// `false` once gpsd has closed it: `activated` is then 0; otherwise it is an ISO date, in old versions a number.
  var isActive = true
  /// Seconds between two fixes; `nil` when unknown or impossible.
  var cycle: Double?
  /// The name of gpsd's driver; `nil` until gpsd knows it.
  var driver: String?
  /// What the receiver says of itself, its versions above all: gpsd's `subtype` and `subtype1`; `nil` until gpsd knows it.
  var model: String?
}

extension GPSDDevice {
  init?(_ object: JSONObject) {
    guard let path = object.string("path") else { return nil }
    self.init(
      path: path, isActive: object.number("activated") != 0,
      cycle: object.number("cycle").flatMap { $0 > 0 ? $0 : nil },
      driver: object.string("driver").map { ForeignText.clean($0, limit: 64) }, model: Self.model(object))
  }

  private static func model(_ object: JSONObject) -> String? {
    let parts = ["subtype", "subtype1"].compactMap(object.string).filter { !$0.isEmpty }
    return parts.isEmpty ? nil : ForeignText.clean(parts.joined(separator: ", "), limit: 160)
  }
}

/// The address of gpsd, and the settings of the client.
public struct GPSDConfiguration: Hashable, Sendable {
  /// A host name or address. All addresses of both families are tried.
  public var host: String
  /// TCP port, 1 to 65535.
  public var port: Int
  /// gpsd's path of the receiver to use; `nil`: the first one with a fix, until it is stale or another is clearly better.
  public var device: String?
  /// The position is lost after this time without a usable report, or after two cycles of the receiver if that is longer.
  public var staleAfter: Duration
  /// Positions that cannot be reached at this speed, in metres a second, above 0, are refused; `nil`: none are.
  public var maximumSpeed: Double?
  /// A speed above this, in metres a second, is left out of its fix: gpsd derives speeds from jumps of the position. `nil`: no limit.
  public var speedLimit: Double?

  public init(
    host: String = "127.0.0.1", port: Int = 2947, device: String? = nil, staleAfter: Duration = .seconds(5),
    maximumSpeed: Double? = nil, speedLimit: Double? = nil
  ) {
    (self.host, self.port, self.device, self.staleAfter) = (host, port, device, staleAfter)
    (self.maximumSpeed, self.speedLimit) = (maximumSpeed, speedLimit)
  }

  /// Whether the server is on this host, by its name or address.
  var isLocal: Bool {
    let name = host.lowercased()
    let isFourParts = name.split(separator: ".", omittingEmptySubsequences: false).count == 4
    return (name.hasPrefix("127.") && isFourParts)
      || ["localhost", "::1", "[::1]", "::ffff:127.0.0.1"].contains(name)
  }
}

/// A GST report: the receiver's own standard deviations, in metres; `nil` where gpsd gives none.
public struct GSTReport: Hashable, Sendable {
  /// gpsd's path of the receiver.
  public var device: String?
  public var latitude: Double?
  public var longitude: Double?
  /// Of the major axis of the error ellipse.
  public var major: Double?
  /// Of the minor axis of the error ellipse.
  public var minor: Double?

  /// The horizontal standard deviation: the root of the sum of the squares of either pair; `nil` where the report has no pair.
  var horizontal: Double? {
    for pair in [(latitude, longitude), (major, minor)] {
      if let first = pair.0.asErrorEstimate, let second = pair.1.asErrorEstimate {
        return (first * first + second * second).squareRoot()
      }
    }
    return nil
  }
}

extension GSTReport {
  init(_ object: JSONObject) {
    self.init(
      device: object.string("device"), latitude: object.number("lat"), longitude: object.number("lon"),
      major: object.number("major"), minor: object.number("minor"))
  }
}

/// The satellites of a receiver, from a SKY report.
public struct Satellites: Hashable, Sendable {
  /// In view, from 0 to 1000.
  public let seen: Int
  /// Used for the position, at most ``seen``.
  public let used: Int

  /// `nil` when the numbers are impossible.
  public init?(seen: Int, used: Int) {
    guard (0...1000).contains(seen), (0...seen).contains(used) else { return nil }
    (self.seen, self.used) = (seen, used)
  }

  /// `nil` for a report without satellites: a receiver can send dilutions alone. Releases before 3.20 list the satellites and do not count them.
  init?(_ object: JSONObject) {
    if let seen = object.integer("nSat"), let used = object.integer("uSat") {
      self.init(seen: seen, used: used)
    } else {
      let list = object.objects("satellites")
      guard !list.isEmpty else { return nil }
      self.init(seen: list.count, used: list.count { $0.bool("used") == true })
    }
  }
}
