/// A notice to the operator: a test is due and cannot start.
public struct LoopNotice: Hashable, Sendable, CustomStringConvertible {
  /// The number of the test.
  public let number: Int
  /// Why it cannot start.
  public let hold: LoopHold
  /// Bytes used in the period, for a data limit.
  public let used: Int64
  /// The data limit in bytes, for a data limit.
  public let limit: Int64
  /// Whether the date is known, on which the data limits depend.
  let isDateKnown: Bool
  /// Why the link is another one, for ``LoopHold/otherLink``.
  var otherLink: String?

  /// One line: what is held back, why, and what to do.
  public var description: String {
    let test = "test \(number) of the loop is due, but "
    return switch hold {
    case .inactive: test + "the loop is paused or the host sleeps: it starts when both are over"
    case .otherLink:
      test + "\(otherLink ?? "another link would carry it"): it starts on a mobile network, or with loop.links: any"
    case .noFix: test + "there is no accurate fix: it starts with the next one; check the antenna if none comes"
    case .dayLimit: test + budget("day")
    case .monthLimit: test + budget("month")
    }
  }

  private func budget(_ period: String) -> String {
    let figures = "tests used \(used) of \(limit) bytes for this \(period)"
    let date = isDateKnown ? "" : "; the date is not known, so that no new \(period) begins: check the clock"
    return "\(figures): it starts in the next \(period) (UTC), or with a higher data limit\(date)"
  }
}
