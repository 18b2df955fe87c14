import Coverage
import OrderedJSON

/// The columns of the modem's report (docs/radio.md); no fence has a value in them without one.
enum RadioColumns {
  static let all: [Column<FenceRecord>] =
    [shares] + SignalQuantity.allCases.flatMap(levels) + network + cell(\.cell) + environment

  /// An object with a member for each technology. The shares are rounded one by one, so their sum can differ from 1.
  private static let shares = Column<FenceRecord>(
    "technology_shares", .object, "share of the fence's time on each technology, 0 to 1; `NONE` without one"
  ) { record in
    guard let stretches = record.fence.radio?.technologies, !stretches.isEmpty else { return nil }
    let whole = stretches.reduce(Int64(0)) { $0.saturatingAdding(max(0, $1.microseconds)) }
    return .object(
      stretches.map { stretch in
        let share = whole > 0 ? JSON.rounded(Double(stretch.microseconds) / Double(whole), places: 3) : nil
        return JSON.Member(stretch.technology ?? Technology.none.name, share ?? .null)
      })
  }

  /// Minimum, median and maximum of one quantity, to a tenth of dBm or dB, which is the resolution of the engine
  /// (`RadioTally`).
  private static func levels(of quantity: SignalQuantity) -> [Column<FenceRecord>] {
    let unit = quantity.isPower ? "dbm" : "db"
    func column(
      _ figure: String, _ meaning: String, _ value: @escaping @Sendable (FenceRadio.Level) -> Double
    ) -> Column<FenceRecord> {
      Column("\(quantity.rawValue)_\(figure)_\(unit)", .decimal, "\(meaning) \(quantity.title)") { record in
        let level = record.fence.radio?.levels.first { $0.quantity == quantity }
        return level.flatMap { JSON.rounded(value($0), places: 1) }
      }
    }
    return [
      column("min", "lowest") { $0.minimum },
      column("median", "median, by time, of the") { $0.median },
      column("max", "highest") { $0.maximum },
    ]
  }

  /// The last operator of the fence, and whether and how often the modem changed network or cell.
  private static let network: [Column<FenceRecord>] = [
    .text("operator", "code of the last operator: MCC and MNC") { $0.fence.radio?.operatorCode },
    .text("operator_name", "its name") { $0.fence.radio?.operatorName },
    Column("roaming", .boolean, "whether the modem was roaming at any time") {
      $0.fence.radio.flatMap { $0.isOfModem ? .bool($0.isRoaming) : nil }
    },
    .count("cell_changes", "how often the serving cell changed") {
      $0.fence.radio.flatMap { $0.isOfModem ? $0.cellChanges : nil }
    },
  ]

  /// The last serving cell. Country and network codes are texts: a code such as `01` has a leading zero.
  static func cell<Record>(_ cell: @escaping @Sendable (Record) -> RadioCell?) -> [Column<Record>] {
    [
      .text("cell_mcc", "mobile country code of the last serving cell") { cell($0)?.countryCode },
      .text("cell_mnc", "its mobile network code") { cell($0)?.networkCode },
      .number("cell_area", "its tracking area code (LTE, 5G) or location area code") { cell($0)?.area },
      .number("cell_id", "its identity: CI, ECI or NCI") { cell($0)?.identity },
      .number("cell_pci", "its physical cell identity; in UMTS its primary scrambling code", .integer) {
        cell($0)?.physical
      },
      .number("cell_channel", "its channel: ARFCN, UARFCN, EARFCN or NR-ARFCN", .integer) { cell($0)?.channel },
      .number("cell_bandwidth_khz", "the width of that channel", .integer) { cell($0)?.bandwidth },
      .text("cell_band", "the band of that channel in LTE and 5G; several with `/` where 5G's overlap") {
        cell($0).flatMap(RadioBands.name)
      },
    ]
  }

  static let environment: [Column<FenceRecord>] = environment(\.environment)

  /// The cells beside the serving one, as far as the modem lists them.
  static func environment<Record>(
    _ environment: @escaping @Sendable (Record) -> RadioEnvironment?
  ) -> [Column<Record>] {
    [
      .number("nr_cell_pci", "physical identity of the last 5G cell beside an LTE anchor (non-standalone)", .integer) {
        environment($0)?.secondary?.physical
      },
      .number("nr_cell_channel", "its NR-ARFCN", .integer) { environment($0)?.secondary?.channel },
      .text("nr_cell_band", "the band of that channel; several with `/` where they overlap") {
        environment($0)?.secondary.flatMap(RadioBands.name)
      },
      .number("timing_advance", "last timing advance in the last serving cell, in the modem's own unit", .integer) {
        environment($0)?.timingAdvance
      },
      .count("carriers", "most carriers of the serving network in use together; absent for one") {
        environment($0)?.carriers
      },
      .count("neighbours", "most neighbour cells that the modem listed at a time") { environment($0)?.neighbours },
      Column("neighbour_dbm", .decimal, "highest level of a neighbour: RSRP, SS-RSRP or RSCP") {
        (environment($0)?.strongest?.power).flatMap { JSON.rounded($0, places: 1) }
      },
      .number("neighbour_pci", "physical identity of that neighbour; in UMTS its scrambling code", .integer) {
        environment($0)?.strongest?.cell.physical
      },
      .number("neighbour_channel", "its channel", .integer) { environment($0)?.strongest?.cell.channel },
    ]
  }
}

extension FenceRecord {
  fileprivate var cell: RadioCell? { fence.radio?.cell }
  fileprivate var environment: RadioEnvironment? { fence.radio?.environment }
}

extension SignalQuantity {
  /// Its name in the meanings of columns, with the generation that reports it.
  fileprivate var title: String {
    switch self {
    case .rssi: "RSSI"
    case .rscp: "RSCP (UMTS)"
    case .ecio: "Ec/Io (UMTS)"
    case .rsrp: "RSRP (LTE; in 5G non-standalone of the anchor)"
    case .rsrq: "RSRQ (LTE)"
    case .sinr: "SINR (LTE)"
    case .nrRSRP: "SS-RSRP (5G)"
    case .nrRSRQ: "SS-RSRQ (5G)"
    case .nrSINR: "SS-SINR (5G)"
    }
  }
}
