/// A report of a radio source at one moment.
public struct RadioReading: Hashable, Sendable {
  /// The technology; `nil` without service, and while it is unknown.
  public var technology: Technology?
  /// The modem's other values; `nil` from a source that tells the technology only, and while there is no modem.
  public var modem: ModemReading?
  /// Why the modem measures nothing, for an operator, e.g. `the SIM wants its PIN`; `nil` when it is in service.
  public var obstacle: String?
  /// The modem itself, its SIM and its connection; `nil` from a source that does not tell them, and while there is no modem.
  public var equipment: ModemEquipment?

  /// A reading with these values.
  public init(
    technology: Technology? = nil, modem: ModemReading? = nil, obstacle: String? = nil,
    equipment: ModemEquipment? = nil
  ) {
    (self.technology, self.modem, self.obstacle, self.equipment) = (technology, modem, obstacle, equipment)
  }

  /// The reading without values that no network has: cells and operator (``RadioCell/checked(as:)``). Every source passes this.
  public var checked: RadioReading {
    var reading = self
    reading.modem = modem?.checked(as: technology?.cellKind)
    return reading
  }
}

/// The modem's reports since the open fence began. A fix that counts from its arrival can end a fence at a moment before the last
/// reports: for a while they stay apart, and are added up later.
struct RadioTrack: Sendable {
  private struct Report: Sendable {
    let at: DriveTime
    let technology: Technology?
    let modem: ModemReading?
  }

  /// A fix counts from its arrival, which is rarely more than a second ago. Reports that are older than this are added up.
  private static let memory: Duration = .seconds(5)
  /// More reports are added up early.
  private static let longest = 64

  /// In order; the first one is in effect at ``begin``.
  private var reports = [Report(at: .start, technology: nil, modem: nil)]
  private var tally = RadioTally()
  /// The moment from which ``reports`` count. Earlier reports are in the tally, or belong to fences that ended.
  private(set) var begin = DriveTime.start

  /// A new technology, or a new report.
  mutating func report(_ technology: Technology?, _ modem: ModemReading?, at time: DriveTime) {
    let last = reports[reports.count - 1]
    reports.append(Report(at: max(time, last.at), technology: technology, modem: modem))
    while reports.count > 1, reports.count > Self.longest || reports[1].at + Self.memory < time {
      add(reports[0], until: reports[1].at, to: &tally)
      begin = max(begin, reports[1].at)
      reports.removeFirst()
    }
  }

  /// The technology now; `nil` when the modem has none.
  var technology: Technology? { reports[reports.count - 1].technology }
  /// The modem's report now.
  var modem: ModemReading? { reports[reports.count - 1].modem }

  /// A fence begins.
  mutating func begin(at time: DriveTime) {
    tally = RadioTally(after: reports.last { $0.at < time }?.modem?.cell)
    begin = time
    while reports.count > 1, reports[1].at <= time { reports.removeFirst() }
  }

  /// The figures from ``begin(at:)`` to `end`.
  func figures(until end: DriveTime) -> FenceRadio? {
    var tally = tally
    for (index, report) in reports.enumerated() where index == 0 || report.at < end {
      add(report, until: index + 1 < reports.count ? min(reports[index + 1].at, end) : end, to: &tally)
    }
    return tally.figures
  }

  private func add(_ report: Report, until end: DriveTime, to tally: inout RadioTally) {
    let from = max(report.at, begin)
    guard end >= from else { return }
    tally.add(report.technology, report.modem, for: end.microseconds.saturatingSubtracting(from.microseconds))
  }
}
