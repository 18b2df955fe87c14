import Coverage
import OrderedJSON

/// `network_type` of a speed test: what the reference apps send for its link (docs/protocol.md, 6.2).
enum NetworkType {
  /// A mobile network of an unknown technology.
  static let cellular: Int64 = 0
  /// No statement about the link: the reference's command-line clients send it for every link.
  private static let unknown: Int64 = 98
  private static let (wifi, ethernet, vpn): (Int64, Int64, Int64) = (99, 106, 108)

  /// Never 97, which the server's database deletes (docs/protocol.md, 3.7).
  /// - Parameter links: The links that carried the test; `nil` when they are not known.
  static func of(links: [SpeedTestLink]?, _ technology: Technology?) -> Int64 {
    let id = technology.flatMap { $0 == .none ? nil : $0.id }.map(Int64.init)
    guard let links, !links.isEmpty else { return id ?? unknown }
    switch links.kind {
    // Two modems: the technology is that of one of them.
    case .cellular: return Set(links.map(\.interface)).count > 1 ? cellular : id ?? cellular
    case .loopback: return id ?? unknown
    case .wifi: return wifi
    case .ethernet: return ethernet
    case .vpn: return vpn
    case .other, nil: return unknown
    }
  }
}

/// The mobile network of a result, and the issuer of the SIM. Without the SIM's operator, the server knows neither the kind of roaming nor
/// the provider (docs/protocol.md, 3.5).
struct MobileNetwork {
  /// The codes, five or six digits; other text is left out.
  var operatorCode: String?
  var operatorName: String?
  var simOperatorCode: String?
  var simOperatorName: String?
  var isRoaming: Bool?

  var members: [JSON.Member] {
    let network = operatorCode.flatMap { OperatorCode($0) }
    let sim = simOperatorCode.flatMap { OperatorCode($0) }
    return JSON.members([
      "telephony_network_operator": network.map { .string($0.withDash) },
      "telephony_network_operator_name": operatorName.map { ColumnText.json($0, ColumnText.long) },
      "telephony_network_country": network?.countryName.map(JSON.string),
      "telephony_network_sim_operator": sim.map { .string($0.withDash) },
      "telephony_network_sim_operator_name": simOperatorName.map { ColumnText.json($0, ColumnText.long) },
      "telephony_network_sim_country": sim?.countryName.map(JSON.string),
      "telephony_network_is_roaming": isRoaming.map(JSON.bool),
    ])
  }
}
