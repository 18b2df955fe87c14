import Coverage
import Store

/// The fences of a selection by technology and band of their last serving cell: the table *Signal and cells by band* of a report.
struct BandGroups: Sendable {
  /// A row of the table.
  struct Key: Hashable, Sendable {
    let reception: Reception
    /// `nil` when the modem names no channel that has a band (``RadioBands``).
    let band: String?
    /// Whether it is of 5G cells beside an LTE anchor: their fences are in the row of the anchor too.
    var isSecondary = false

    var name: String {
      "\(isSecondary ? reception.name : reception.servingName), \(band ?? "band unknown")\(isSecondary ? " beside LTE" : "")"
    }

    /// Bands of one technology in the order of their numbers, the unknown one last.
    fileprivate var order: (Int, Int, Int, String) {
      (Reception.allCases.firstIndex(of: reception) ?? 0, isSecondary ? 1 : 0, band?.count ?? .max, band ?? "")
    }
  }

  /// What the modem told in the fences of a row, each fence once; levels in tenths of a dBm.
  struct Row: Sendable {
    fileprivate(set) var fences = 0
    fileprivate(set) var microseconds: Int64 = 0
    /// Medians of the fences, of the quantity that stands for the technology (``FenceRadio/quantities(of:)``).
    fileprivate(set) var signal = Distribution()
    /// The same of RSSI in 3G, where the modem names no RSCP.
    fileprivate(set) var rssi = Distribution()
    /// Medians of the fences, of the 5G cell beside an LTE anchor.
    fileprivate(set) var secondarySignal = Distribution()
    fileprivate(set) var carriers = Distribution()
    fileprivate(set) var neighbours = Distribution()
    fileprivate(set) var strongest = Distribution()
    fileprivate(set) var timingAdvance = Distribution()
  }

  private var groups: [Key: Row] = [:]
  /// Whether a modem told more than technologies and their signal.
  private var isKnown = false

  /// The rows in order; empty when no modem told a band, or anything of other cells.
  var rows: [(key: Key, row: Row)] {
    isKnown ? groups.sorted { $0.key.order < $1.key.order }.map { ($0.key, $0.value) } : []
  }

  /// The keys of the rows of any of these, in order.
  static func keys(of all: [BandGroups]) -> [Key] {
    Set(all.flatMap { $0.rows.map(\.key) }).sorted { $0.order < $1.order }
  }

  mutating func add(_ reported: StoredFence) {
    let (radio, technology) = (reported.fence.radio, Self.technology(of: reported.fence))
    let (environment, fifth) = (radio?.environment, radio?.tenths(of: .nrRSRP))
    let key = Key(reception: Reception(on: technology), band: radio?.cell.flatMap(RadioBands.name))
    let levels = FenceRadio.quantities(of: technology).map { radio?.tenths(of: $0) }
    let isStandalone = key.reception == .fiveStandalone || radio?.receptions.contains(.fiveStandalone) == true
    let secondarySignal = isStandalone ? nil : fifth
    if key.band != nil || environment != nil || secondarySignal != nil { isKnown = true }
    add(
      reported, to: key,
      [
        (\.signal, levels.first ?? nil), (\.rssi, levels.first == .some(nil) ? levels.dropFirst().first ?? nil : nil),
        (\.secondarySignal, secondarySignal), (\.carriers, environment?.carriers.map { Int64($0) }),
        (\.neighbours, environment?.neighbours.map { Int64($0) }),
        (\.strongest, (environment?.strongest?.power).flatMap { Int64(exactly: ($0 * 10).rounded()) }),
        (\.timingAdvance, environment?.timingAdvance),
      ])
    if let cell = environment?.secondary {
      let key = Key(reception: .fiveNonStandalone, band: RadioBands.name(of: cell), isSecondary: true)
      add(reported, to: key, [(\.signal, secondarySignal)])
    }
  }

  private mutating func add(
    _ reported: StoredFence, to key: Key, _ values: [(WritableKeyPath<Row, Distribution>, Int64?)]
  ) {
    var row = groups[key] ?? Row()
    row.fences += 1
    row.microseconds = row.microseconds.saturatingAdding(reported.microseconds)
    for case (let figure, let value?) in values { row[keyPath: figure].add(value) }
    groups[key] = row
  }

  /// The technology of the last serving cell: where that is of another kind than most of the fence's time, one of its kind.
  private static func technology(of fence: Fence) -> Technology? {
    let main = fence.mainTechnology
    guard let kind = fence.radio?.cell?.kind, kind != main?.cellKind else { return main }
    let names: [RadioCell.Kind: String] = [.gsm: "2G/GSM", .umts: "3G/UMTS", .lte: "4G/LTE", .nr: "5G/NR"]
    return names[kind].map { Technology($0) }
  }
}

extension Reception {
  /// The name beside values of the serving cell: in 5G NSA, the LTE anchor.
  var servingName: String { self == .fiveNonStandalone ? "\(name) (LTE anchor)" : name }
}

extension FenceRadio {
  /// Of the technologies on which the modem was.
  var receptions: Set<Reception> { Set(technologies.map { Reception(on: $0.technology.map { Technology($0) }) }) }

  /// The median of a quantity in tenths of its unit; `nil` when it is not known, for a value that no modem can mean, and when the modem
  /// was on two technologies that have it: the median is of both.
  func tenths(of quantity: SignalQuantity) -> Int64? {
    let isOfTwo =
      switch quantity {
      case .rssi: receptions.isSuperset(of: [.two, .three])
      case .nrRSRP: receptions.isSuperset(of: [.fiveNonStandalone, .fiveStandalone])
      default: false
      }
    guard !isOfTwo else { return nil }
    return levels.first { $0.quantity == quantity }.flatMap {
      quantity.range.contains($0.median) ? Int64(($0.median * 10).rounded()) : nil
    }
  }
}
