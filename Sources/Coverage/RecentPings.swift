/// The latest pings that were counted, with the fence that each counts in: a fix counts from the arrival of its position, though the rest of
/// its epoch is waited for, and pings that were sent meanwhile move to where they belong.
struct RecentPings: Sendable {
  /// In microseconds: longer than any epoch is waited for.
  static let memory: Int64 = 3_000_000

  struct Entry: Sendable {
    let event: Event
    /// Index of the fence; `nil`: it counts in none.
    let fence: Int?
  }

  private var entries: [Entry] = []
  /// No ping that was sent before can be moved any more.
  private(set) var horizon = DriveTime(microseconds: .min)

  mutating func note(_ event: Event, in fence: Int?) {
    entries.append(Entry(event: event, fence: fence))
    // Half of them at once, so that it is seldom done.
    guard entries.count >= 64, let middle = entries[entries.count / 2].event.at.microseconds as Int64?,
      middle < event.at.microseconds.subtractingReportingOverflow(Self.memory).partialValue
    else { return }
    forget(entries.count / 2)
  }

  private mutating func forget(_ count: Int) {
    horizon = entries.prefix(count).reduce(horizon) { max($0, $1.event.at) }
    entries.removeFirst(count)
  }

  /// Takes the pings out that were sent at `time` or later.
  mutating func take(since time: DriveTime) -> [Entry] {
    let taken = entries.filter { $0.event.at >= time }
    entries.removeAll { $0.event.at >= time }
    return taken
  }

  /// When the latest ping of a fence was sent; of those that are forgotten, an upper bound.
  var latestOfFences: DriveTime { entries.lazy.filter { $0.fence != nil }.map(\.event.at).reduce(horizon, max) }
}
