import Coverage
import OrderedJSON

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
