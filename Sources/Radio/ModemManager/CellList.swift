import Coverage

/// The cells that `Modem.GetCellInfo` returns: the serving one, and others.
struct CellList: Hashable, Sendable {
  private(set) var serving: RadioCell?
  private(set) var others: [RadioCell] = []

  /// - Parameter value: An array of dictionaries. Of two serving cells, LTE's is the anchor of 5G non-standalone and comes first.
  init(_ value: BusValue) {
    let entries = value.list.prefix(64).map(\.dictionary).sorted { Self.rank($0) < Self.rank($1) }
    for entry in entries {
      let cell = Self.cell(entry)
      guard !cell.isUnknown else { continue }
      if entry["serving"]?.isTrue == true, serving == nil { serving = cell } else { others.append(cell) }
    }
  }

  private static func rank(_ entry: [String: BusValue]) -> Int { entry["cell-type"]?.number == 6 ? 1 : 0 }

  private static func cell(_ entry: [String: BusValue]) -> RadioCell {
    var cell = RadioCell()
    let network = entry["operator-id"]?.text.flatMap(OperatorCode.init)
    (cell.countryCode, cell.networkCode) = (network?.country, network?.network)
    cell.area = entry["tac"]?.hexadecimal ?? entry["lac"]?.hexadecimal
    cell.identity = entry["ci"]?.hexadecimal
    cell.physical = entry["physical-ci"]?.hexadecimal ?? entry["psc"]?.number
    cell.channel = ["earfcn", "nrarfcn", "uarfcn", "arfcn"].lazy.compactMap { possible(entry[$0]) }.first
    cell.bandwidth = possible(entry["bandwidth"]).flatMap(kilohertz)
    return cell
  }

  /// ModemManager's sign for "unknown" is the greatest number.
  private static func possible(_ value: BusValue?) -> Int64? {
    value?.number.flatMap { (0..<Int64(UInt32.max)).contains($0) ? $0 : nil }
  }

  /// Plug-ins tell the width in Hz or in kHz; the ranges do not meet (1.4 to 400 MHz).
  private static func kilohertz(_ width: Int64) -> Int64? {
    if (1400...400_000).contains(width) { return width }
    return (1_400_000...400_000_000).contains(width) ? width / 1000 : nil
  }
}
