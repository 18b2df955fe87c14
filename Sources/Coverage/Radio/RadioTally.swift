/// Adds up the modem's reports in a fence, weighted by time.
struct RadioTally: Sendable {
  private struct Stretch {
    let technology: Technology?
    var microseconds: Int64
  }

  /// Time by tenths of the unit, for each quantity.
  private var levels: [SignalQuantity: [Int32: Int64]] = [:]
  private var stretches: [Stretch] = []
  private var cellChanges = 0
  private var cell: RadioCell?
  private let former: RadioCell?
  private var hasReport = false
  private var operatorCode: String?
  private var operatorName: String?
  private var simOperatorCode: String?
  private var simOperatorName: String?
  private var isRoaming = false
  private var environment: RadioEnvironment?

  /// - Parameter former: The serving cell before the fence: a change at the moment of its beginning counts in it.
  init(after former: RadioCell? = nil) { self.former = former }

  /// Adds a report and the time for which it was in effect. A report that was replaced at the same moment has no effect.
  mutating func add(_ technology: Technology?, _ modem: ModemReading?, for microseconds: Int64) {
    guard microseconds > 0 else { return }
    let time = microseconds
    if let index = stretches.firstIndex(where: { $0.technology == technology }) {
      stretches[index].microseconds = stretches[index].microseconds.saturatingAdding(time)
    } else {
      stretches.append(Stretch(technology: technology, microseconds: time))
    }
    guard let modem else { return }
    hasReport = true
    if let code = modem.operatorCode { (operatorCode, operatorName) = (code, modem.operatorName) }
    if let code = modem.simOperatorCode { (simOperatorCode, simOperatorName) = (code, modem.simOperatorName) }
    if modem.registration == .roaming { isRoaming = true }
    for (quantity, value) in modem.signal where quantity.range.contains(value) {
      levels[quantity, default: [:]][Int32((value * 10).rounded()), default: 0].saturate(adding: time)
    }
    defer { add(RadioEnvironment(modem)) }
    guard let next = modem.cell, !next.isUnknown else { return }
    if let known = cell ?? former, !known.canBe(next) {
      cellChanges += 1
      environment?.timingAdvance = nil
    }
    cell = next
  }

  private mutating func add(_ next: RadioEnvironment?) {
    guard let next else { return }
    if environment == nil { environment = next } else { environment?.add(next) }
  }

  /// `nil` when no modem reported more than its technology, and that did not change.
  var figures: FenceRadio? {
    guard hasReport || stretches.count > 1 else { return nil }
    var figures = FenceRadio()
    figures.technologies = stretches.map {
      FenceRadio.Stretch(technology: $0.technology?.name, microseconds: $0.microseconds)
    }
    figures.levels = SignalQuantity.allCases.compactMap { quantity in levels[quantity].map { Self.level(quantity, $0) }
    }
    figures.cellChanges = cellChanges
    figures.cell = cell
    (figures.operatorCode, figures.operatorName) = (operatorCode, operatorName)
    (figures.simOperatorCode, figures.simOperatorName) = (simOperatorCode, simOperatorName)
    (figures.isRoaming, figures.environment) = (isRoaming, environment)
    return figures
  }

  private static func level(_ quantity: SignalQuantity, _ times: [Int32: Int64]) -> FenceRadio.Level {
    let sorted = times.sorted { $0.key < $1.key }
    let whole = sorted.reduce(Int64(0)) { $0.saturatingAdding($1.value) }
    var median = sorted[0].key
    var before: Int64 = 0
    for (value, time) in sorted {
      median = value
      before = before.saturatingAdding(time)
      if before >= whole - before { break }
    }
    return FenceRadio.Level(
      quantity: quantity, minimum: Double(sorted[0].key) / 10, median: Double(median) / 10,
      maximum: Double(sorted[sorted.count - 1].key) / 10)
  }
}

extension Int64 {
  fileprivate mutating func saturate(adding other: Int64) { self = saturatingAdding(other) }
}
