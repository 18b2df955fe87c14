import Coverage

/// How ModemManager is asked.
struct ModemManagerOptions: Sendable {
  /// The interface of the measured link, by which the modem is chosen (``ModemChoice``).
  var interface: String?
  /// Whether it is an obstacle and a warning that there never was a ModemManager; else a line of information. One that ended always is.
  var isRequired = true
  /// Whether to configure the modem to report its signal and its cell.
  var mayConfigure = true
  /// Turns the number of a SIM (ICCID) into its pseudonym; `nil`: the SIM has none.
  var simName: (@Sendable (String) -> String?)?
}

/// The modem of a link among all of ModemManager's. It is chosen for each reading, so it follows modems that come and go.
enum ModemChoice: Hashable {
  /// The path of its object.
  case modem(String)
  /// Why there is none, for an operator.
  case none(String)

  /// - Parameters:
  ///   - modems: By the path of the object.
  ///   - interface: The interface of the measured link; `nil`: not configured, and the only modem counts.
  init(among modems: [String: ModemObject], interface: String?) {
    if let interface, let match = modems.first(where: { $0.value.networkPorts.contains(interface) }) {
      self = .modem(match.key)
      return
    }
    // A modem that dials through a serial port has no interface of its own.
    let candidates = modems.filter { interface == nil || $0.value.networkPorts.isEmpty }.keys
    // Several candidates: a guess could give a link the technology of another modem.
    switch candidates.count {
    case 1: self = .modem(candidates.first ?? "")
    case 0 where modems.isEmpty: self = .none("there is no modem")
    case 0: self = .none("no modem has the interface \(interface ?? "-")")
    default:
      let advice = interface.map { "none has the interface \($0)" } ?? "set pings.interface or links to choose one"
      self = .none("there are \(candidates.count) modems; \(advice)")
    }
  }
}
