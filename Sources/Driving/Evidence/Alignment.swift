import Coverage

/// Pairs the pings of a drive log with those of a capture. A pure value.
///
/// The log has each ping's scheduled time on a clock that never steps; the capture has the time of its packet on the wall clock. The two
/// differ by the delay of sending, and by the steps of the wall clock since the drive's start.
struct Alignment {
  /// A ping of the log.
  struct Ping: Hashable {
    let at: DriveTime
    /// ``at`` on the drive's wall clock, in nanoseconds since the epoch.
    let wall: Int64
    let outcome: PingOutcome
    /// The sequence number on the wire, if the log has it.
    var sequence: UInt32?
  }

  /// Decides when too few pairs match, so that a search for another offset is due. A pure value.
  private struct SearchTrigger {
    private var bad = 0
    private var since = (ping: 0, trip: 0)
    // A search is expensive: after one without a result the next comes later, and their number is limited.
    private var patience = 8
    private var searchesLeft = 50

    mutating func append(matches: Bool, ping: Int, trip: Int) {
      if matches {
        bad = max(0, bad - 1)
      } else {
        if bad == 0 { since = (ping, trip) }
        bad += 1
      }
    }

    /// The first pair that did not match, if a search is due.
    var dueSince: (ping: Int, trip: Int)? { bad >= patience && searchesLeft > 0 ? since : nil }

    mutating func searched(wasSuccessful: Bool) {
      bad = 0
      searchesLeft -= 1
      patience = wasSuccessful ? 8 : patience * 2
    }
  }

  /// In the order of sending.
  let pings: [Ping]
  /// The pings of the capture, in the order of sending.
  let trips: [RoundTrip]
  /// The interval at which pings are sent, in nanoseconds.
  let interval: Int64
  /// The time limit of an answer, in nanoseconds.
  let timeout: Int64

  /// The wall times, in nanoseconds, at which the packet of `ping` can have passed, if the wall clock is `offset` ahead. A ping is never sent
  /// before its time, and on a busy machine up to an interval after it. It can appear early because the log's start is cut off to the
  /// millisecond.
  func window(_ ping: Ping, _ offset: Int64) -> Range<Int64> {
    let expected = ping.wall.saturatingAdding(offset)
    return expected.saturatingSubtracting(interval / 10)..<expected.saturatingAdding(interval - interval / 10)
  }

  /// The round-trip time of a captured ping; `nil` when it was not answered in time.
  func rtt(_ trip: RoundTrip) -> Int64? { trip.rttNanoseconds.flatMap { $0 <= timeout ? $0 : nil } }

  /// The pairs, as indices of ``trips`` by indices of ``pings``: by sequence numbers if the log has them, otherwise by time.
  func pairs() -> [Int: Int] {
    pings.contains { $0.sequence != nil } ? pairsByNumber() : pairsByTime()
  }

  /// A drive uses each number once. A capture of several drives can contain it twice; then the nearest in time is the ping.
  private func pairsByNumber() -> [Int: Int] {
    var candidates: [UInt32: [Int]] = [:]
    for (index, trip) in trips.enumerated() { candidates[trip.key.sequence, default: []].append(index) }
    var pairs: [Int: Int] = [:]
    for (index, ping) in pings.enumerated() {
      guard let sequence = ping.sequence, let found = candidates[sequence],
        let nearest = found.min(by: { distance(ping, $0) < distance(ping, $1) })
      else { continue }
      pairs[index] = nearest
      candidates[sequence] = found.filter { $0 != nearest }
    }
    return pairs
  }

  private func distance(_ ping: Ping, _ trip: Int) -> UInt64 {
    trips[trip].sentAt.saturatingSubtracting(ping.wall).magnitude
  }

  private func pairsByTime() -> [Int: Int] {
    var pairs: [Int: Int] = [:]
    var offset = resynchronised(0, ping: 0, trip: 0)
    var recent = [offset]
    var trigger = SearchTrigger()
    var (ping, trip) = (0, 0)
    while ping < pings.count, trip < trips.count {
      let window = window(pings[ping], offset)
      if trips[trip].sentAt < window.lowerBound {
        trip += 1
        continue
      }
      if window.contains(trips[trip].sentAt) {
        trigger.append(matches: cost(trips[trip], pings[ping]) <= Self.goodCost, ping: ping, trip: trip)
        pairs[ping] = trip
        recent = recent.suffix(31) + [trips[trip].sentAt.saturatingSubtracting(pings[ping].wall)]
        // The smallest difference is the best estimate: the others include a delay of sending.
        offset = recent.min() ?? offset
        trip += 1
      } else {
        trigger.append(matches: false, ping: ping, trip: trip)
      }
      ping += 1
      guard let since = trigger.dueSince else { continue }
      let better = resynchronised(offset, ping: since.ping, trip: since.trip)
      trigger.searched(wasSuccessful: better != offset)
      guard better != offset else { continue }
      (offset, recent) = (better, [better])
      for undone in since.ping..<ping { pairs[undone] = nil }
      (ping, trip) = since
    }
    return pairs
  }

  // MARK: Finding the offset of the wall clock

  /// In nanoseconds: a pair with a smaller cost matches.
  private static let goodCost: Int64 = 50_000
  private static let tripsCompared = 64
  private static let pingsTried = 600
  /// The cost of a trip without a ping, or with one of another outcome.
  private static let noPing: Int64 = 1_000_000

  /// The offset at which the trips from `trip` on match the pings from `ping` on, if it is much better than `current`; otherwise `current`.
  /// Pings are sent on a grid, so every offset gives pairs; the right one is found by round-trip times and losses.
  private func resynchronised(_ current: Int64, ping: Int, trip: Int) -> Int64 {
    let present = cost(current, from: trip)
    guard present > Self.goodCost else { return current }
    var best = (offset: current, cost: present / 2)
    for tried in trip..<min(trip + 3, trips.count) {
      for candidate in ping..<min(ping + Self.pingsTried, pings.count) {
        let offset = trips[tried].sentAt.saturatingSubtracting(pings[candidate].wall)
        let cost = cost(offset, from: trip)
        if cost < best.cost { best = (offset, cost) }
      }
    }
    return best.offset
  }

  /// The mean cost of the next trips: the difference of their round-trip times from the log's, in nanoseconds.
  private func cost(_ offset: Int64, from trip: Int) -> Int64 {
    let compared = trips[trip..<min(trip + Self.tripsCompared, trips.count)]
    let sum = compared.reduce(Int64(0)) { $0 + cost($1, offset) }
    return compared.isEmpty ? 0 : sum / Int64(compared.count)
  }

  private func cost(_ trip: RoundTrip, _ offset: Int64) -> Int64 {
    ping(around: trip.sentAt, offset).map { cost(trip, $0) } ?? Self.noPing
  }

  private func cost(_ trip: RoundTrip, _ ping: Ping) -> Int64 {
    switch (ping.outcome, rtt(trip)) {
    case (.answered(let reported, _), let captured?):
      min(reported.saturatingSubtracting(captured).saturatingMagnitude, Self.noPing)
    case (.failed, nil): 0
    default: Self.noPing
    }
  }

  /// The ping whose window contains `sentAt`; `nil` when there is none.
  private func ping(around sentAt: Int64, _ offset: Int64) -> Ping? {
    let next = pings.partitionPoint({ window($0, offset).lowerBound <= sentAt })
    return next > 0 && window(pings[next - 1], offset).contains(sentAt) ? pings[next - 1] : nil
  }

  // MARK: The rest

  /// The captured pings without a pair.
  func unpaired(_ pairs: [Int: Int]) -> [RoundTrip] {
    let paired = Set(pairs.values)
    return trips.enumerated().filter { !paired.contains($0.offset) }.map(\.element)
  }

  /// Whether the log should contain the ping. It does not contain pings that were sent before the drive, nor pings without an outcome at its
  /// end: those sent within the timeout before the end, and an interval more, because outcomes are written with a delay.
  /// - Parameter end: The time of the log's last event.
  func covers(_ trip: RoundTrip, _ pairs: [Int: Int], from started: WallTime, to end: DriveTime) -> Bool {
    guard let last = pairs.max(by: { $0.key < $1.key }) else { return true }
    let rest = (end - pings[last.key].at).inNanoseconds
    return trip.sentAt / 1000 >= started.microseconds
      && trip.sentAt
        < trips[last.value].sentAt.saturatingAdding(rest).saturatingSubtracting(timeout).saturatingSubtracting(interval)
  }
}
