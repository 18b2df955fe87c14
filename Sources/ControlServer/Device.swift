import OrderedJSON

/// What this device and program say of themselves with every request (spec 4.1, 4.4). The server overwrites what it knows
/// with what a result carries, so it is repeated there.
public struct Device: Hashable, Sendable {
  /// Never `unknown`: the server marks such tests as broken (spec 4.5).
  public var model: String
  /// The host's name in the field.
  public var device: String
  public var osVersion: String
  /// ISO 639.
  public var language: String
  /// IANA zone, required by the server.
  public var timezone: String
  public var softwareVersion: String
  public var softwareVersionCode: Int64
  public var softwareRevision: String

  public init(
    model: String, device: String, osVersion: String, language: String, timezone: String, softwareVersion: String,
    softwareVersionCode: Int64, softwareRevision: String
  ) {
    self.model = model
    self.device = device
    self.osVersion = osVersion
    self.language = language
    self.timezone = timezone
    self.softwareVersion = softwareVersion
    self.softwareVersionCode = softwareVersionCode
    self.softwareRevision = softwareRevision
  }

  /// The members that every request carries.
  var members: [JSON.Member] {
    JSON.members([
      "platform": "Linux",
      "plattform": "Linux",
      "os_version": .string(osVersion),
      "model": .string(model),
      "device": .string(device),
      "product": "coverage-probe",
      "language": .string(language),
      "client_language": .string(language),
      "timezone": .string(timezone),
      "name": "RMBT",
      "client": "RMBT",
      "client_name": "RMBT",
      "type": "MOBILE",
      "version": "0.3",
      "client_version": .string(String(softwareVersion.prefix(10))),
      "client_software_version": .string(softwareVersion),
      "softwareVersion": .string(softwareVersion),
      "softwareVersionCode": .integer(softwareVersionCode),
      "softwareRevision": .string(softwareRevision),
      "capabilities": .object([
        "classification": .object(["count": 4]),
        "qos": .object(["supports_info": true]),
        "RMBThttp": true,
      ]),
    ])
  }
}
