import Coverage
import Store

/// An ended speed test as a report reads it.
public struct ReportedSpeedTest: Sendable {
  /// Its number in the store.
  public let id: Int64
  /// How it ended; `nil` for an outcome that a later build wrote.
  public let outcome: StoredSpeedTest.Outcome?
  /// The technology at its start.
  public let technology: Technology?
  /// Its figures; `nil` when it has none, or a later build wrote them in another form.
  public let figures: SpeedTestFigures?

  /// A test with the given values.
  public init(id: Int64, outcome: StoredSpeedTest.Outcome?, technology: Technology?, figures: SpeedTestFigures?) {
    (self.id, self.outcome, self.technology, self.figures) = (id, outcome, technology, figures)
  }

  /// A stored test.
  public init(_ stored: StoredSpeedTest) {
    self.init(id: stored.id, outcome: stored.outcome, technology: stored.technology, figures: stored.figures)
  }
}
