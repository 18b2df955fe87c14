/// One line from gpsd, as far as this client cares (spec/gpsd.md 1 to 5).
public enum GPSDReport: Hashable, Sendable {
  /// gpsd's first word. Its protocol numbers are of no use: 3.27 calls itself 0.16, 3.27.4 calls itself 16.1.
  case version(release: String?)
  /// The echo of a WATCH command.
  case watch(enabled: Bool, json: Bool)
  /// All receivers that gpsd has.
  case devices([GPSDDevice])
  /// A receiver that came, went or was identified.
  case device(GPSDDevice)
  case tpv(TPV)
  /// The dilutions of precision; the satellites are not looked at.
  case sky(device: String?, Dilution)
  /// The receiver's own standard deviations.
  case gst(GSTReport)
  /// An ERROR report; advisory.
  case complaint(String)
  /// A class that is not used here, or that a device made up.
  case other(String)

  /// `nil` for a line that is no JSON object with a class: to be counted, and nothing else.
  public init?(line: [UInt8]) {
    guard let object = JSONObject(line[...]), let name = object.string("class") else { return nil }
    switch name {
    case "VERSION": self = .version(release: object.string("release"))
    case "WATCH": self = .watch(enabled: object.bool("enable") ?? false, json: object.bool("json") ?? false)
    case "DEVICES": self = .devices(object.objects("devices").compactMap(GPSDDevice.init))
    case "DEVICE": self = GPSDDevice(object).map(Self.device) ?? .other(name)
    case "TPV": self = .tpv(TPV(object))
    case "SKY": self = .sky(device: object.string("device"), Dilution(object))
    case "GST": self = .gst(GSTReport(object))
    case "ERROR": self = .complaint(object.string("message") ?? "")
    default: self = .other(name)
    }
  }
}

/// A receiver as gpsd lists it.
public struct GPSDDevice: Hashable, Sendable {
  /// A device file or a URL.
  public let path: String
  /// False once gpsd says that it has been closed. `activated` is an ISO date, in old versions a number, and 0 means closed.
  public let isActive: Bool
  /// Seconds between two fixes; `nil` where gpsd does not know, or names no possible number.
  public let cycle: Double?
  /// Which of gpsd's drivers reads it; `nil` until gpsd knows.
  public let driver: String?

  public init(path: String, isActive: Bool = true, cycle: Double? = nil, driver: String? = nil) {
    self.path = path
    self.isActive = isActive
    self.cycle = cycle
    self.driver = driver
  }

  init?(_ object: JSONObject) {
    guard let path = object.string("path") else { return nil }
    self.init(
      path: path, isActive: object.number("activated") != 0,
      cycle: object.number("cycle").flatMap { $0 > 0 ? $0 : nil },
      driver: object.string("driver").map { ForeignText.clean($0, limit: 64) })
  }
}

extension Dilution {
  init(_ object: JSONObject) {
    self.init(hdop: object.number("hdop"), xdop: object.number("xdop"), ydop: object.number("ydop"))
  }
}

extension GSTReport {
  init(_ object: JSONObject) {
    self.init(
      device: object.string("device"), latitude: object.number("lat"), longitude: object.number("lon"),
      major: object.number("major"), minor: object.number("minor"))
  }
}

extension TPV {
  init(_ object: JSONObject) {
    self.init()
    device = object.string("device")
    mode = object.integer("mode") ?? 0
    status = object.integer("status")
    time = object.string("time").flatMap(ReceiverTime.parse)
    latitude = object.number("lat")
    longitude = object.number("lon")
    altMSL = object.number("altMSL")
    altHAE = object.number("altHAE")
    alt = object.number("alt")
    track = object.number("track")
    speed = object.number("speed")
    climb = object.number("climb")
    eph = object.number("eph")
    epx = object.number("epx")
    epy = object.number("epy")
    epv = object.number("epv")
  }
}
