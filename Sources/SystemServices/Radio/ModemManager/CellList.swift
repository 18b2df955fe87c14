import Coverage

/// The cells that `Modem.GetCellInfo` returns (ModemManager 1.20): the serving ones, and neighbours. A modem may lack the call;
/// ``ModemObject/cell`` names the serving cell, too, with fewer values.
struct CellList: Hashable, Sendable {
  /// The first serving cell in the order of ``rank(_:)``; `nil` when the list has none.
  private(set) var serving: MeasuredCell?
  /// The other serving cells: 5G's beside an LTE anchor, and further carriers.
  private(set) var secondaries: [MeasuredCell] = []
  /// The cells that do not serve.
  private(set) var neighbours: [MeasuredCell] = []
  /// The timing advance in the serving cell, as it came.
  private(set) var timingAdvance: Int64?

  /// - Parameters:
  ///   - value: An array of dictionaries. Of two serving cells, LTE's is the anchor of 5G non-standalone and comes first.
  ///   - kind: The kind of the modem's network; `nil`: unknown. In LTE a 5G cell is never ``serving``: ModemManager lists a serving LTE cell
  ///     as serving only if it is among those of its own frequency.
  init(_ value: BusValue, in kind: RadioCell.Kind? = nil) {
    // At most 64: the list comes from outside.
    let entries = value.list.prefix(64).map(\.dictionary).sorted { Self.rank($0) < Self.rank($1) }
    for entry in entries {
      let cell = Self.cell(entry).checked(as: nil)
      guard !cell.isUnknown else { continue }
      let measured = MeasuredCell(cell, levels: Self.levels(entry, cell.kind))
      if entry["serving"]?.isTrue != true {
        neighbours.append(measured)
      } else if serving == nil, kind != .lte || cell.kind != .nr {
        (serving, timingAdvance) = (measured, Self.possible(entry["timing-advance"]))
      } else {
        secondaries.append(measured)
      }
    }
  }

  /// MMCellType.
  private static let kinds: [Int64: RadioCell.Kind] = [2: .gsm, 3: .umts, 5: .lte, 6: .nr]

  /// The order of serving cells: 5G's (MMCellType 6) come after all others, and secondary ones after primary ones (MMServingCellType, of
  /// ModemManager 1.22; 1: primary).
  private static func rank(_ entry: [String: BusValue]) -> Int {
    (entry["cell-type"]?.number == 6 ? 2 : 0) + (entry["serving-cell-type"]?.number ?? 1 == 1 ? 0 : 1)
  }

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

  /// The levels of an entry, without values that no quantity has: ModemManager's sign for "unknown" is the least number there is.
  private static func levels(_ entry: [String: BusValue], _ kind: RadioCell.Kind?) -> [SignalQuantity: Double] {
    let names: [(String, SignalQuantity)] =
      switch kind {
      case .lte: [("rsrp", .rsrp), ("rsrq", .rsrq)]
      case .nr: [("rsrp", .nrRSRP), ("rsrq", .nrRSRQ), ("sinr", .nrSINR)]
      case .umts: [("rscp", .rscp), ("ecio", .ecio)]
      case .gsm, nil: []
      }
    return names.reduce(into: [:]) { levels, name in
      if let level = entry[name.0]?.real, name.1.range.contains(level) { levels[name.1] = level }
    }
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
