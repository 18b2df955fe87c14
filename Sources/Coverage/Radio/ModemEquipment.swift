/// The modem, the SIM and the bearer of a link, as ModemManager names them: what a drive was measured with. `nil` stands for an unknown value.
public struct ModemEquipment: Hashable, Sendable {
  /// How the network gave the modem its connection (ModemManager's MMBearerType).
  public enum Bearer: String, Hashable, Sendable, CaseIterable {
    /// The host asked for it.
    case standard = "default"
    /// LTE's and 5G's attachment brings it.
    case attach = "default-attach"
    /// The network brings it for some of the traffic.
    case dedicated
  }

  /// The IP versions of a connection.
  public enum AddressFamily: String, Hashable, Sendable, CaseIterable {
    case ipv4, ipv6, ipv4v6
  }

  /// The manufacturer, as the modem names it.
  public var manufacturer: String?
  /// The model, as the modem names it.
  public var model: String?
  /// The revision of the modem's firmware.
  public var firmware: String?
  /// A pseudonym of the SIM's number (ICCID), which itself is stored nowhere.
  public var sim: String?
  /// The code of the operator that issued the SIM, five or six digits.
  public var simOperatorCode: String?
  /// The name of the operator that issued the SIM.
  public var simOperatorName: String?
  /// The access point name of the connection.
  public var accessPoint: String?
  /// The kind of connection.
  public var bearer: Bearer?
  /// The IP versions of the connection.
  public var addresses: AddressFamily?

  /// Nothing known.
  public init() {}

  /// In a line for people, e.g. `Quectel RM520N-GL, firmware R01; SIM A1 9f86d081884c7d65; APN internet, default, ipv4v6`.
  public var words: String {
    let device = [
      [manufacturer, model].compactMap { $0 }.joined(separator: " "), firmware.map { "firmware \($0)" } ?? "",
    ]
    let card = [simOperatorName ?? simOperatorCode, sim].compactMap { $0 }
    let connection = [accessPoint.map { "APN \($0)" }, bearer?.rawValue, addresses?.rawValue].compactMap { $0 }
    return [
      device.filter { !$0.isEmpty }.joined(separator: ", "), card.isEmpty ? "" : "SIM " + card.joined(separator: " "),
      connection.joined(separator: ", "),
    ].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// Whether it has a value that differs from that of `other`. Missing values are no news: a modem without a connection has no APN.
  public func adds(to other: ModemEquipment?) -> Bool {
    zip(values, (other ?? ModemEquipment()).values).contains { $0 != nil && $0 != $1 }
  }

  /// Whether it has another value where `other` has one.
  public func contradicts(_ other: ModemEquipment) -> Bool {
    zip(values, other.values).contains { $0 != nil && $1 != nil && $0 != $1 }
  }

  private var values: [String?] {
    [
      manufacturer, model, firmware, sim, simOperatorCode, simOperatorName, accessPoint, bearer?.rawValue,
      addresses?.rawValue,
    ]
  }
}

extension ModemEquipment: Decodable {
  private enum Key: String, CodingKey {
    case manufacturer, model, firmware, sim, apn, bearer
    case simOperatorCode = "sim_operator"
    case simOperatorName = "sim_operator_name"
    case addresses = "ip_family"
  }

  /// Reads the members of a drive log's `equipment` (docs/drive-log.md). Unknown kinds are absent, as a later release may know more. Texts are
  /// cut to 64 characters.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    func text(_ key: Key) throws -> String? {
      try values.decodeIfPresent(String.self, forKey: key).map { String($0.prefix(64)) }
    }
    (manufacturer, model, firmware) = (try text(.manufacturer), try text(.model), try text(.firmware))
    sim = try text(.sim)
    simOperatorCode = try text(.simOperatorCode).flatMap { OperatorCode($0) }?.digits
    simOperatorName = try text(.simOperatorName)
    accessPoint = try text(.apn)
    bearer = try text(.bearer).flatMap(Bearer.init)
    addresses = try text(.addresses).flatMap(AddressFamily.init)
  }
}
