import Coverage

/// A SIM or a bearer of a modem. ModemManager's manager does not list them: their properties are asked for by the paths that the modem names.
struct ModemPart: Hashable, Sendable {
  /// The interface of SIMs.
  static let sim = "org.freedesktop.ModemManager1.Sim"
  /// The interface of bearers.
  static let bearer = "org.freedesktop.ModemManager1.Bearer"

  private var properties: [String: BusValue] = [:]

  /// - Parameter properties: As `GetAll` returns them.
  init(_ properties: [String: BusValue]) { change(properties) }

  /// Replaces the properties that a signal names. Only those with a meaning here are kept: not the subscriber's number (IMSI), nor the
  /// user name and the password of a connection.
  mutating func change(_ new: [String: BusValue]) {
    for (name, value) in new {
      switch name {
      case "Properties": properties[name] = .dictionary(value.dictionary.filter { $0.key == "apn" })
      case "SimIdentifier", "OperatorIdentifier", "OperatorName", "Connected", "Interface", "BearerType", "Ip4Config",
        "Ip6Config":
        properties[name] = value
      default: break
      }
    }
  }

  // MARK: A SIM

  var operatorCode: String? { properties["OperatorIdentifier"]?.name }
  var operatorName: String? { properties["OperatorName"]?.name }

  /// The number of the SIM (ICCID): up to 20 digits (ITU-T E.118, 4.1); `nil` for a text that is none.
  var number: String? {
    properties["SimIdentifier"]?.name.flatMap {
      (18...22).contains($0.utf8.count) && $0.allSatisfy(\.isHexDigit) ? $0 : nil
    }
  }

  // MARK: A bearer

  var isConnected: Bool { properties["Connected"]?.isTrue == true }
  /// The name of its network interface, while it is connected.
  var networkInterface: String? { properties["Interface"]?.name }
  var accessPoint: String? { properties["Properties"]?.dictionary["apn"]?.name }

  /// MMBearerType.
  var kind: ModemEquipment.Bearer? {
    switch properties["BearerType"]?.number {
    case 1: .standard
    case 2: .attach
    case 3: .dedicated
    default: nil
    }
  }

  /// The IP versions for which ModemManager has a configuration (MMBearerIpMethod, 0: unknown).
  var addresses: ModemEquipment.AddressFamily? {
    func has(_ name: String) -> Bool { (properties[name]?.dictionary["method"]?.number ?? 0) > 0 }
    return switch (has("Ip4Config"), has("Ip6Config")) {
    case (true, true): .ipv4v6
    case (true, false): .ipv4
    case (false, true): .ipv6
    case (false, false): nil
    }
  }
}
