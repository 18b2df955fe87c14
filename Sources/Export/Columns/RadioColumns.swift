import Coverage
import OrderedJSON

/// The columns of the modem's report (docs/radio.md); no fence has a value in them without one.
enum RadioColumns {
  static let all: [Column] = [shares] + SignalQuantity.allCases.flatMap(levels) + network + cell + environment

  /// An object with a member for each technology. The shares are rounded one by one, so their sum can differ from 1.
  private static let shares = Column(
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
  private static func levels(of quantity: SignalQuantity) -> [Column] {
    let unit = quantity.isPower ? "dbm" : "db"
    func column(
      _ figure: String, _ meaning: String, _ value: @escaping @Sendable (FenceRadio.Level) -> Double
    ) -> Column {
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
  private static let network: [Column] = [
    Column("operator", .text, "code of the last operator: MCC and MNC") {
      $0.fence.radio?.operatorCode.map(JSON.string)
    },
    Column("operator_name", .text, "its name") { $0.fence.radio?.operatorName.map(JSON.string) },
    Column("roaming", .boolean, "whether the modem was roaming at any time") {
      $0.fence.radio.flatMap { $0.isOfModem ? .bool($0.isRoaming) : nil }
    },
    Column("cell_changes", .integer, "how often the serving cell changed") {
      $0.fence.radio.flatMap { $0.isOfModem ? .count($0.cellChanges) : nil }
    },
  ]

  /// The last serving cell of the fence. Country and network codes are texts: a code such as `01` has a leading zero.
  private static let cell: [Column] = [
    Column("cell_mcc", .text, "mobile country code of the last serving cell") {
      $0.fence.radio?.cell?.countryCode.map(JSON.string)
    },
    Column("cell_mnc", .text, "its mobile network code") { $0.fence.radio?.cell?.networkCode.map(JSON.string) },
    Column("cell_area", .long, "its tracking area code (LTE, 5G) or location area code") {
      $0.fence.radio?.cell?.area.map(JSON.integer)
    },
    Column("cell_id", .long, "its identity: CI, ECI or NCI") { $0.fence.radio?.cell?.identity.map(JSON.integer) },
    Column("cell_pci", .integer, "its physical cell identity; in UMTS its primary scrambling code") {
      $0.fence.radio?.cell?.physical.map(JSON.integer)
    },
    Column("cell_channel", .integer, "its channel: ARFCN, UARFCN, EARFCN or NR-ARFCN") {
      $0.fence.radio?.cell?.channel.map(JSON.integer)
    },
    Column("cell_bandwidth_khz", .integer, "the width of that channel") {
      $0.fence.radio?.cell?.bandwidth.map(JSON.integer)
    },
    Column("cell_band", .text, "the band of that channel in LTE and 5G; several with `/` where 5G's overlap") {
      $0.fence.radio?.cell.flatMap(RadioBands.name).map(JSON.string)
    },
  ]

  /// The cells beside the serving one, as far as the modem lists them.
  static let environment: [Column] = [
    Column("nr_cell_pci", .integer, "physical identity of the last 5G cell beside an LTE anchor (non-standalone)") {
      $0.fence.radio?.environment?.secondary?.physical.map(JSON.integer)
    },
    Column("nr_cell_channel", .integer, "its NR-ARFCN") {
      $0.fence.radio?.environment?.secondary?.channel.map(JSON.integer)
    },
    Column("nr_cell_band", .text, "the band of that channel; several with `/` where they overlap") {
      $0.fence.radio?.environment?.secondary.flatMap(RadioBands.name).map(JSON.string)
    },
    Column("timing_advance", .integer, "last timing advance in the last serving cell, in the modem's own unit") {
      $0.fence.radio?.environment?.timingAdvance.map(JSON.integer)
    },
    Column("carriers", .integer, "most carriers of the serving network in use together; absent for one") {
      ($0.fence.radio?.environment?.carriers).map(JSON.count)
    },
    Column("neighbours", .integer, "most neighbour cells that the modem listed at a time") {
      ($0.fence.radio?.environment?.neighbours).map(JSON.count)
    },
    Column("neighbour_dbm", .decimal, "highest level of a neighbour: RSRP, SS-RSRP or RSCP") {
      ($0.fence.radio?.environment?.strongest?.power).flatMap { JSON.rounded($0, places: 1) }
    },
    Column("neighbour_pci", .integer, "physical identity of that neighbour; in UMTS its scrambling code") {
      $0.fence.radio?.environment?.strongest?.cell.physical.map(JSON.integer)
    },
    Column("neighbour_channel", .integer, "its channel") {
      $0.fence.radio?.environment?.strongest?.cell.channel.map(JSON.integer)
    },
  ]
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
