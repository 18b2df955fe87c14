import Coverage

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

/// The cells that `Modem.GetCellInfo` returns (ModemManager 1.20): the serving one, and others. A modem may lack the call;
/// ``ModemObject/cell`` names the serving cell, too, with fewer values.
struct CellList: Hashable, Sendable {
  /// The first serving cell in the order of ``rank(_:)``; `nil` when the list has none.
  private(set) var serving: RadioCell?
  /// The other cells, among them further serving ones.
  private(set) var others: [RadioCell] = []

  /// - Parameter value: An array of dictionaries. Of two serving cells, LTE's is the anchor of 5G non-standalone and comes first.
  init(_ value: BusValue) {
    // At most 64: the list comes from outside.
    let entries = value.list.prefix(64).map(\.dictionary).sorted { Self.rank($0) < Self.rank($1) }
    for entry in entries {
      let cell = Self.cell(entry).checked(as: nil)
      guard !cell.isUnknown else { continue }
      if entry["serving"]?.isTrue == true, serving == nil { serving = cell } else { others.append(cell) }
    }
  }

  /// MMCellType.
  private static let kinds: [Int64: RadioCell.Kind] = [2: .gsm, 3: .umts, 5: .lte, 6: .nr]

  /// 1 for a 5G cell (MMCellType 6), which comes after all others.
  private static func rank(_ entry: [String: BusValue]) -> Int { entry["cell-type"]?.number == 6 ? 1 : 0 }

  /// A cell from the members of its dictionary. Codes are hexadecimal texts, channels and the scrambling code numbers.
  private static func cell(_ entry: [String: BusValue]) -> RadioCell {
    var cell = RadioCell()
    cell.kind = entry["cell-type"]?.number.flatMap { Self.kinds[$0] }
    let network = entry["operator-id"]?.text.flatMap { OperatorCode($0) }
    (cell.countryCode, cell.networkCode) = (network?.country, network?.network)
    cell.area = entry["tac"]?.hexadecimal ?? entry["lac"]?.hexadecimal
    cell.identity = entry["ci"]?.hexadecimal
    cell.physical = entry["physical-ci"]?.hexadecimal ?? entry["psc"]?.number
    cell.channel = ["earfcn", "nrarfcn", "uarfcn", "arfcn"].lazy.compactMap { possible(entry[$0]) }.first
    cell.bandwidth = possible(entry["bandwidth"]).flatMap(kilohertz)
    return cell
  }

  /// The number in `value`; `nil` for ModemManager's sign for "unknown", which is the greatest number of 32 bits.
  private static func possible(_ value: BusValue?) -> Int64? {
    value?.number.flatMap { (0..<Int64(UInt32.max)).contains($0) ? $0 : nil }
  }

  /// The width of a channel in kHz; `nil` for an impossible one. Plug-ins of ModemManager report it in Hz or in kHz. The two
  /// ranges do not meet (1.4 to 400 MHz), so the number shows the unit.
  private static func kilohertz(_ width: Int64) -> Int64? {
    if (1400...400_000).contains(width) { return width }
    return (1_400_000...400_000_000).contains(width) ? width / 1000 : nil
  }
}
