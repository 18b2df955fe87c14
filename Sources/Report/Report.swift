import Coverage

/// A report: the figures of a selection, and of a second one beside it if there is one.
public struct Report: Sendable {
  /// A selection with its figures.
  public struct Part: Sendable {
    /// What was selected, for people.
    public let title: String
    /// Its figures.
    public let figures: ReportFigures

    /// A selection with its figures.
    public init(title: String, figures: ReportFigures) { (self.title, self.figures) = (title, figures) }
  }

  /// The selection, and the second one of a comparison.
  public let parts: [Part]
  /// The comparison; `nil` without a second selection.
  public let comparison: PlaceComparison.Result?
  /// The size of the comparison's places in metres.
  public let placeMetres: Double

  /// A report of these parts.
  public init(parts: [Part], comparison: PlaceComparison?) {
    self.parts = parts
    self.comparison = comparison?.result()
    placeMetres = comparison?.grid.metres ?? 0
  }
}
