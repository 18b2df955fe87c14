import Coverage

/// Runs of neighbouring fences without a gap in which pings were sent and none was answered. A fence with an answer or
/// without pings, a gap, and a fence that is not selected end an outage.
public struct Outages: Sendable {
  /// One outage.
  public struct Outage: Hashable, Sendable {
    /// When its first fence began.
    public let began: WallTime
    /// The centre of its first fence.
    public let place: Coordinate
    /// How long its fences lasted, in microseconds.
    public internal(set) var microseconds: Int64
    /// The pings that were lost.
    public internal(set) var pings: Int
  }

  /// Their number.
  public private(set) var count = 0
  /// Their time together, in microseconds.
  public private(set) var microseconds: Int64 = 0
  /// The longest; the first of several.
  public private(set) var longest: Outage?
  /// The outage under way; `nil` after a fence that is none.
  private var current: Outage?
  private var last: ReportedFence?

  mutating func add(_ fence: ReportedFence) {
    let isContinued = last.map { $0.continues(in: fence) } ?? false
    last = fence
    guard Reception(fence.fence) == .noAnswer else {
      current = nil
      return
    }
    let began = isContinued ? current : nil
    if began == nil { count += 1 }
    microseconds = microseconds.saturatingAdding(fence.microseconds)
    var outage =
      began
      ?? Outage(
        began: fence.driveStarted + fence.fence.entered, place: fence.fence.centre, microseconds: 0, pings: 0)
    outage.microseconds = outage.microseconds.saturatingAdding(fence.microseconds)
    outage.pings = outage.pings.saturatingAdding(fence.fence.pings)
    current = outage
    if outage.microseconds > longest?.microseconds ?? -1 { longest = outage }
  }
}
