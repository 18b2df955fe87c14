/// The latest counted pings, each with its fence. A fix counts from the arrival of its position but is delivered when its epoch is
/// complete; pings that were sent in between are then taken back and counted again.
struct RecentPings: Sendable {
  /// In microseconds; longer than the longest wait for an epoch.
  static let memory: Int64 = 3_000_000

  struct Entry: Sendable {
    let event: Event
    /// Index of the fence in which the ping counts; `nil`: in none.
    let fence: Int?
  }

  private var entries: [Entry] = []
  /// The latest time of sending among the dropped pings: no fix can count from before it.
  private(set) var horizon = DriveTime(microseconds: .min)

  mutating func append(_ event: Event, in fence: Int?) {
    entries.append(Entry(event: event, fence: fence))
    // Drop the older half once it is old enough: one removal for many pings.
    guard entries.count >= 64, let middle = entries[entries.count / 2].event.at.microseconds as Int64?,
      middle < event.at.microseconds.subtractingReportingOverflow(Self.memory).partialValue
    else { return }
    drop(entries.count / 2)
  }

  private mutating func drop(_ count: Int) {
    horizon = entries.prefix(count).reduce(horizon) { max($0, $1.event.at) }
    entries.removeFirst(count)
  }

  /// Removes the pings that were sent at `time` or later, and returns them in order of counting.
  mutating func removeAll(since time: DriveTime) -> [Entry] {
    let removed = entries.filter { $0.event.at >= time }
    entries.removeAll { $0.event.at >= time }
    return removed
  }

  /// The latest time of sending of a ping that counts in a fence; at least ``horizon``.
  var latestOfFences: DriveTime { entries.lazy.filter { $0.fence != nil }.map(\.event.at).reduce(horizon, max) }
}
