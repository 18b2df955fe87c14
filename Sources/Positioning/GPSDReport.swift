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
