/// The counted pings of a drive: all of them by number, and the latest ones, each with its place. A fix counts from the arrival of its
/// position but is delivered when its epoch is complete; pings that were sent in between are then taken back and counted again.
struct CountedPings: Sendable {
  /// In microseconds; longer than the longest wait for an epoch.
  static let memory: Int64 = 3_000_000

  struct Entry: Sendable {
    let event: Event
    let place: PingPlace
  }

  private var entries: [Entry] = []
  private(set) var totals = PingTotals()
  /// The latest time of sending among the dropped pings: no fix can count from before it.
  private(set) var horizon = DriveTime(microseconds: .min)
  /// The latest time of sending of all counted pings.
  private(set) var latest = DriveTime(microseconds: .min)
  /// The latest time of sending of the pings that count in fences; at least ``horizon`` once pings have been taken back.
  private(set) var latestInFences = DriveTime.start
  /// Pings with an outcome whose places are final, by place; of fences, all together.
  private(set) var settled = PingPlaceCounts()
  private let keepsPlaced: Bool
  /// Dropped pings that nobody has drained; empty unless they are kept.
  private var placed: [PlacedPing] = []

  /// - Parameter keepsPlaced: Whether dropped pings are kept for ``drainPlaced()``.
  init(keepsPlaced: Bool) { self.keepsPlaced = keepsPlaced }

  mutating func append(_ event: Event, in place: PingPlace) {
    entries.append(Entry(event: event, place: place))
    totals.count(event.kind, in: place, by: 1)
    latest = max(latest, event.at)
    if case .ping = event.kind, place.isInFence { latestInFences = max(latestInFences, event.at) }
    // Drop the older half once all of it is old enough: one removal for many pings. A loss comes later than answers to later pings.
    guard entries.count >= 64 else { return }
    let old = event.at.microseconds.saturatingSubtracting(Self.memory)
    if entries.prefix(entries.count / 2).allSatisfy({ $0.event.at.microseconds < old }) { drop(entries.count / 2) }
  }

  private mutating func drop(_ count: Int) {
    horizon = entries.prefix(count).reduce(horizon) { max($0, $1.event.at) }
    for entry in entries.prefix(count) {
      guard let ping = PlacedPing(entry) else { continue }
      settled.count(ping.place)
      if keepsPlaced { placed.append(ping) }
    }
    entries.removeFirst(count)
  }

  /// Takes back the pings that were sent at `time` or later, and returns them in order of counting.
  mutating func removeAll(since time: DriveTime) -> [Entry] {
    let removed = entries.filter { $0.event.at >= time }
    entries.removeAll { $0.event.at >= time }
    for entry in removed { totals.count(entry.event.kind, in: entry.place, by: -1) }
    latestInFences = entries.lazy.filter(\.place.isInFence).map(\.event.at).reduce(horizon, max)
    return removed
  }

  /// The drive has ended: all places are final.
  mutating func end() { drop(entries.count) }

  /// The pings whose places no fix can change any more.
  mutating func drainPlaced() -> [PlacedPing] {
    defer { placed = [] }
    return placed
  }
}

extension PlacedPing {
  /// `nil` for an event that is not the outcome of a ping, and for pings that were not sent.
  fileprivate init?(_ entry: CountedPings.Entry) {
    guard case .ping(let outcome) = entry.event.kind else { return nil }
    if case .unsent = outcome { return nil }
    self.init(sent: entry.event.at, outcome: outcome, place: entry.place)
  }
}
