import Coverage

/// A report: the figures of a selection, and of a second one beside it if there is one. ``ReportPage`` writes it as HTML,
/// ``json`` as JSON.
public struct Report: Sendable {
  /// A selection with its figures.
  public struct Part: Sendable {
    /// What was selected, for people.
    public let title: String
    /// Its figures.
    let figures: ReportFigures

    /// A selection with its figures.
    public init(title: String, figures: ReportFigures) { (self.title, self.figures) = (title, figures) }

    /// Whether no fence was selected.
    public var isEmpty: Bool { figures.shares.total.fences == 0 }
  }

  /// The selection, and the second one of a comparison.
  public let parts: [Part]
  /// The comparison; `nil` without a second selection.
  let comparison: PlaceComparison.Result?
  /// The comparison of speed tests; `nil` without a second selection, or when one of them has no test.
  let speedTests: SpeedTestComparison?
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

  /// A report of one or two parts.
  /// - Parameter comparison: With all fences of both parts; `nil` for one part.
  public init(parts: [Part], comparison: PlaceComparison?) {
    self.parts = parts
    self.comparison = comparison?.result()
    speedTests =
      parts.count == 2
      ? SpeedTestComparison(parts[0].figures.speedTests, parts[1].figures.speedTests) : nil
    placeMetres = comparison?.grid.metres ?? 0
  }
}
