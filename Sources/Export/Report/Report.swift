import Coverage

/// A report: the figures of a selection, and of a second one beside it if there is one. ``ReportPage`` writes it as HTML,
/// ``json`` as JSON.
public struct Report: Sendable {
  /// A selection with its figures.
  public struct Part: Sendable {
    /// What was selected, for people.
    public let title: String
    let figures: ReportFigures
    /// The figures with an interval: computed once, for page and JSON.
    let percentiles: [Percentile]
    let mean: Estimate?
    let loss: Estimate?
    let coverage: (estimate: Estimate, deviations: CorrelatedMean)?
    /// The drives, logs, filters and settings that the figures rest on; `nil` for figures that are made up.
    let provenance: ExportProvenance?

    public init(title: String, figures: ReportFigures, provenance: ExportProvenance? = nil) {
      (self.title, self.figures, self.provenance) = (title, figures, provenance)
      (percentiles, mean, loss) = (figures.percentiles, figures.mean, figures.loss)
      coverage = figures.shares.coveredDistance
    }

    /// `nil` without delays.
    func percentile(_ percent: Int) -> Percentile? { percentiles.first { $0.percent == percent } }

    /// Whether no fence was selected.
    public var isEmpty: Bool { figures.shares.total.fences == 0 }
  }

  /// When, by whom and with which settings a report was made, for its title; what is `nil` is left out.
  public struct Origin: Hashable, Sendable {
    var made: WallTime?
    /// Who, in the user's own words.
    var author: String?
    /// The control server's host, and the device that gpsd is asked for, as they are set now.
    var server: String?
    var receiver: String?

    public init(made: WallTime? = nil, author: String? = nil, server: String? = nil, receiver: String? = nil) {
      (self.made, self.author, self.server, self.receiver) = (made, author, server, receiver)
    }
  }

  /// When and by whom it was made.
  let origin: Origin
  /// The selection, and the second one of a comparison.
  public let parts: [Part]
  /// The comparison; `nil` without a second selection.
  let comparison: PlaceComparison.Result?
  /// The comparison of speed tests; `nil` without a second selection, or when one of them has no test.
  let speedTests: SpeedTestComparison?
  /// The tests of a comparison, corrected together; empty without a second selection.
  let findings: [Finding]
  /// The height of a place of the comparison in metres; 0 without a comparison.
  let placeMetres: Double

  /// The longest title that fits into the head of a column.
  static let longestHead = 20

  /// Names of the parts for heads of columns and rows: the titles, or `first` and `second` when one of two titles is too
  /// long.
  var heads: [String] {
    let titles = parts.map(\.title)
    return titles.count < 2 || titles.allSatisfy { $0.count <= Self.longestHead } ? titles : ["first", "second"]
  }

  /// The rows of a table with a name: one for each part that has the value; of two parts, each has the name of the part too.
  func rows<Value>(_ name: String, _ value: (Part) -> Value?, _ cells: (Value) -> [String]) -> [[String]] {
    zip(heads, parts).compactMap { head, part in
      value(part).map { [Markup.escaped(parts.count > 1 ? "\(name), \(head)" : name)] + cells($0) }
    }
  }

  /// The most names or drives in each table that has no other limit, by link, area and band and of the drives: together they leave the
  /// report six pages of paper.
  var mostRows: Int {
    let ofParts = parts.map(\.figures.breakdown)
    let names = [
      FenceGroups.names(of: ofParts.map(\.links)).count, FenceGroups.names(of: ofParts.map(\.areas)).count,
      BandGroups.keys(of: ofParts.map(\.bands)).count,
    ]
    let drives = parts.map { $0.provenance?.drives.count ?? 0 }
    let room = parts.count > 1 ? 40 : 64
    return (1...60).last { most in
      (names.map { min($0, most) * parts.count } + drives.map { min($0, most) }).reduce(0, +) <= room
    } ?? 1
  }

  /// A report of one or two parts.
  /// - Parameters:
  ///   - comparison: With all fences of both parts; `nil` for one part.
  ///   - least: The differences that matter.
  ///   - origin: When and by whom it was made.
  public init(
    parts: [Part], comparison: PlaceComparison?, least: LeastDifferences = LeastDifferences(), origin: Origin = Origin()
  ) {
    (self.parts, self.origin) = (parts, origin)
    let places = comparison?.result()
    self.comparison = places
    let speedTests =
      parts.count == 2
      ? SpeedTestComparison(parts[0].figures.speedTests, parts[1].figures.speedTests) : nil
    self.speedTests = speedTests
    findings =
      places.map { places in
        let coverage = Difference(parts.first?.coverage, parts.last?.coverage)
        return Finding.all(
          [
            (.delay, places.delay?.difference.scaled(1e-6), least.delayMilliseconds),
            (.loss, places.loss?.scaled(100), least.lossPoints),
            (.coverage, coverage?.scaled(100), least.coveragePoints),
          ]
            + (speedTests.map { $0.shared == 0 ? $0.differences : [] } ?? []).map {
              ($0, $1, $0 == .ping ? least.delayMilliseconds : 0)
            })
      } ?? []
    placeMetres = comparison?.grid.metres ?? 0
  }
}

extension SpeedTestComparison {
  /// The difference of each figure, in Mbit/s or milliseconds.
  fileprivate var differences: [(figure: Finding.Figure, difference: Difference?)] {
    Self.quantities.compactMap { quantity in
      Finding.Figure(rawValue: quantity.rawValue).map { ($0, tests[quantity]?.difference.scaled(1e-3)) }
    }
  }
}
