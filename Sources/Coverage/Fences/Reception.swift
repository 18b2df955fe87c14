/// The class of a fence in the shares of coverage, and of a speed test in the table by technology. The order is that of the rows of a
/// report. Reports classify by it (docs/algorithm.md, 1); maps and KML paint by `Legend`, with the technology at the end of the fence.
public enum Reception: Hashable, Sendable, CaseIterable {
  /// Pings were answered, on a technology of this generation.
  case two, three, four, fiveNonStandalone, fiveStandalone
  /// Pings were answered, on a technology that is not known.
  case unknown
  /// Pings were sent, and none was answered: no coverage.
  case noAnswer
  /// No ping tells whether there is coverage (``Fence/isMeasured``). It is neither coverage nor no coverage.
  case notMeasured

  /// The reception in a fence; of several technologies that on which it was for the longest time.
  public init(_ fence: Fence) {
    self = fence.isMeasured ? Self(ofPings: fence) ?? .notMeasured : .notMeasured
  }

  /// The reception of the pings in a fence, also of one that Wi-Fi touched: they were sent before and after the time on Wi-Fi. `nil`
  /// without pings.
  public init?(ofPings fence: Fence) {
    guard fence.pings > 0 else { return nil }
    self = fence.pingsAnswered > 0 ? Self(on: fence.mainTechnology) : .noAnswer
  }

  /// The reception of answered pings, or of a test, on a technology; ``unknown`` without one or with an unknown name.
  public init(on technology: Technology?) {
    self =
      switch technology?.generation {
      case .two: .two
      case .three: .three
      case .four: .four
      case .fiveNonStandalone: .fiveNonStandalone
      case .fiveStandalone: .fiveStandalone
      case .noNetwork, nil: .unknown
      }
  }

  /// The name for people, and of the group in JSON.
  public var name: String {
    switch self {
    case .two: "2G"
    case .three: "3G"
    case .four: "4G"
    case .fiveNonStandalone: "5G NSA"
    case .fiveStandalone: "5G SA"
    case .unknown: "unknown technology"
    case .noAnswer: "no answer"
    case .notMeasured: "not measured"
    }
  }

  /// Whether it is coverage or no coverage. Shares are shares of what was measured.
  public var isMeasured: Bool { self != .notMeasured }

  /// Whether it is coverage: at least one ping was answered (after ETSI TS 102 250-2, service availability).
  public var isCoverage: Bool { isMeasured && self != .noAnswer }
}

extension Fence {
  /// The technology on which the device was for the longest time in the fence, the first of equal ones; without a modem's report that of
  /// the last accurate fix. Time without a technology counts only where there is no other.
  public var mainTechnology: Technology? {
    let known = (radio?.technologies ?? []).filter { $0.technology != nil && $0.microseconds > 0 }
    guard let longest = known.map(\.microseconds).max(), let main = known.first(where: { $0.microseconds == longest })
    else { return technology }
    return main.technology.map { Technology($0) }
  }

  /// Divides a time in the fence among the receptions, in microseconds: with answered pings by the share of time on each technology, else
  /// all of it is ``Reception/init(_:)``. The parts add up to `microseconds`.
  public func time(_ microseconds: Int64) -> [(reception: Reception, microseconds: Int64)] {
    let reception = Reception(self)
    let stretches = (radio?.technologies ?? []).filter { $0.microseconds > 0 }
    let whole = stretches.reduce(0.0) { $0 + Double($1.microseconds) }
    guard reception.isCoverage, whole > 0 else { return [(reception, microseconds)] }
    var (passed, given): (Double, Int64) = (0, 0)
    return stretches.map { stretch in
      passed += Double(stretch.microseconds)
      // Cut off cumulatively, so that no microsecond is lost or counted twice.
      let end =
        passed >= whole
        ? microseconds : Int64(exactly: (Double(microseconds) * (passed / whole)).rounded(.down)) ?? microseconds
      defer { given = end }
      return (Reception(on: stretch.technology.map { Technology($0) }), end.saturatingSubtracting(given))
    }
  }

  /// The distance on the ground to the next fence of the same link, in metres between the centres; `nil` where it is not known: another
  /// fence was between the two, or the next centre is further away than four radii (docs/algorithm.md, 9). The sum of these is the
  /// distance of a drive, on maps, in reports and in exports; two links of one drive have one distance.
  public func distance(to next: Fence) -> Double? {
    guard number.saturatingAdding(1) == next.number, next.number > number else { return nil }
    let metres = centre.distance(to: next.centre)
    return metres <= 4 * (radius > 0 ? radius : 20) ? metres : nil
  }
}
