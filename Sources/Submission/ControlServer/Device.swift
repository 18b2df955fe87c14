import OrderedJSON

/// The description of this device and program, a part of every request (docs/protocol.md, 3.2). It is in results as
/// well, because the server overwrites its description of a test with the one in the result.
public struct Device: Hashable, Sendable {
  /// The model of the device, not `unknown`: the server marks tests of an unknown model as broken (docs/protocol.md,
  /// 3.7).
  public var model: String
  /// The operator's name of the device.
  public var device: String
  /// Name and version of the operating system.
  public var osVersion: String
  /// ISO 639 code of the language of the server's messages.
  public var language: String
  /// IANA name of the time zone; the server requires it.
  public var timezone: String
  /// Version of this program; the server stores 10 characters of it as `client_version`.
  public var softwareVersion: String
  /// Version of this program as a number that grows with each release.
  public var softwareVersionCode: Int64
  /// Source revision of this program.
  public var softwareRevision: String

  public init(
    model: String, device: String, osVersion: String, language: String, timezone: String, softwareVersion: String,
    softwareVersionCode: Int64, softwareRevision: String
  ) {
    (self.model, self.device, self.osVersion, self.language) = (model, device, osVersion, language)
    (self.timezone, self.softwareVersion) = (timezone, softwareVersion)
    (self.softwareVersionCode, self.softwareRevision) = (softwareVersionCode, softwareRevision)
  }

  /// The members in every request.
  var members: [JSON.Member] {
    JSON.members([
      "platform": "Linux",
      "plattform": "Linux",
      "os_version": ColumnText.json(osVersion, ColumnText.name),
      "model": ColumnText.json(model, ColumnText.long),
      "device": ColumnText.json(device, ColumnText.long),
      "product": "coverage-probe",
      "language": ColumnText.json(language, ColumnText.code),
      "client_language": ColumnText.json(language, ColumnText.code),
      "timezone": ColumnText.json(timezone, ColumnText.long),
      "name": "RMBT",
      "client": "RMBT",
      "client_name": "RMBT",
      "type": "MOBILE",
      "version": "0.3",
      "client_version": ColumnText.json(softwareVersion, ColumnText.code),
      "client_software_version": ColumnText.json(softwareVersion, ColumnText.name),
      "softwareVersion": ColumnText.json(softwareVersion, ColumnText.name),
      "softwareVersionCode": .integer(softwareVersionCode),
      "softwareRevision": ColumnText.json(softwareRevision, ColumnText.long),
      "capabilities": .object([
        "classification": .object(["count": 4]),
        "qos": .object(["supports_info": true]),
        "RMBThttp": true,
      ]),
    ])
  }
}
