import Coverage

/// The shares of the way, of time and of pings by reception: the section *Coverage by technology* of a report
/// (docs/report.md).
public struct CoverageShares: Sendable {
  /// The fences of one reception, added up.
  public struct Part: Hashable, Sendable {
    /// The number of fences.
    public var fences = 0
    /// The way from each fence to the next one without a gap, in metres, between the centres.
    public var metres = 0.0
    /// The time, in microseconds.
    public var microseconds: Int64 = 0
    /// The pings that were sent and have an outcome.
    public var pings = 0
    /// Of these, those that were answered.
    public var answered = 0

    mutating func add(_ other: Part) {
      fences = fences.saturatingAdding(other.fences)
      metres += other.metres
      microseconds = microseconds.saturatingAdding(other.microseconds)
      pings = pings.saturatingAdding(other.pings)
      answered = answered.saturatingAdding(other.answered)
    }
  }

  /// Shares of a whole, in percent; `nil` where the whole is nothing.
  struct Percentages {
    let way: Double?
    let time: Double?
    let pings: Double?

    init(_ part: Part, of total: Part) {
      way = total.metres > 0 ? part.metres / total.metres * 100 : nil
      time = total.microseconds > 0 ? Double(part.microseconds) / Double(total.microseconds) * 100 : nil
      pings = total.pings > 0 ? Double(part.pings) / Double(total.pings) * 100 : nil
    }
  }

  /// The parts, by reception.
  public private(set) var parts: [Reception: Part] = [:]
  /// The fence that was added last, from whose centre the way goes on.
  private var last: ReportedFence?

  /// All parts together.
  public var total: Part { sum { _ in true } }

  /// The parts with coverage together.
  var covered: Part { sum(\.isCoverage) }

  /// Adds a fence; the fences of a session come in order.
  /// - Returns: The metres from the fence before, when this one continues it; they belong to the fence before.
  @discardableResult
  mutating func add(_ fence: ReportedFence) -> Double? {
    parts[Reception(fence.fence), default: Part()].add(
      Part(
        fences: 1, microseconds: fence.microseconds, pings: fence.fence.pings, answered: fence.fence.pingsAnswered))
    defer { last = fence }
    guard let last, last.continues(in: fence) else { return nil }
    let metres = last.fence.centre.distance(to: fence.fence.centre)
    parts[Reception(last.fence), default: Part()].metres += metres
    return metres
  }

  private func sum(_ isWanted: (Reception) -> Bool) -> Part {
    // In a fixed order, so that the sum of metres is the same each time.
    Reception.allCases.filter(isWanted).reduce(into: Part()) { sum, reception in
      if let part = parts[reception] { sum.add(part) }
    }
  }
}
