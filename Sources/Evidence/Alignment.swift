import Coverage

/// Which ping of a drive log a captured one is. A pure value.
///
/// The log has the moment on the schedule by a clock that never steps, the capture the moment of passing by the wall
/// clock. What lies between is the delay of sending, and how far the wall clock has been set since the drive's start.
struct Alignment {
  struct Ping: Hashable {
    let at: DriveTime
    /// On the drive's wall clock, in nanoseconds since the epoch.
    let wall: Int64
    let outcome: PingOutcome
    /// The number on the wire, where the log tells it.
    var sequence: UInt32?
  }

  /// In the order of sending.
  let pings: [Ping]
  let trips: [RoundTrip]
  let interval: Int64
  let timeout: Int64

  /// A ping is never sent before its moment, and on a busy machine up to an interval after it. A log that has its start in
  /// whole milliseconds makes it seem a little early.
  func window(_ ping: Ping, _ offset: Int64) -> Range<Int64> {
    let expected = ping.wall.saturatingAdding(offset)
    return expected.saturatingSubtracting(interval / 10)..<expected.saturatingAdding(interval - interval / 10)
  }

  /// The round-trip time of a captured ping that was answered in time.
  func rtt(_ trip: RoundTrip) -> Int64? { trip.rttNanoseconds.flatMap { $0 <= timeout ? $0 : nil } }

  /// Indices of `pings` to those of `trips`: by the numbers on the wire where the log tells them, else by time.
  func pairs() -> [Int: Int] {
    pings.contains { $0.sequence != nil } ? pairsByNumber() : pairsByTime()
  }

  /// A drive uses no number twice. Where the capture has one twice (it holds another drive, too), the nearest in time is meant.
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
    var doubt = Doubt()
    var (ping, trip) = (0, 0)
    while ping < pings.count, trip < trips.count {
      let window = window(pings[ping], offset)
      if trips[trip].sentAt < window.lowerBound {
        trip += 1
        continue
      }
      if window.contains(trips[trip].sentAt) {
        doubt.note(isGood: cost(trips[trip], pings[ping]) <= Self.goodCost, ping: ping, trip: trip)
        pairs[ping] = trip
        recent = recent.suffix(31) + [trips[trip].sentAt.saturatingSubtracting(pings[ping].wall)]
        // Of the least delay: others were sent late.
        offset = recent.min() ?? offset
        trip += 1
      } else {
        doubt.note(isGood: false, ping: ping, trip: trip)
      }
      ping += 1
      guard let since = doubt.isJustified else { continue }
      let better = resynchronised(offset, ping: since.ping, trip: since.trip)
      doubt.settle(wasRight: better != offset)
      guard better != offset else { continue }
      (offset, recent) = (better, [better])
      for undone in since.ping..<ping { pairs[undone] = nil }
      (ping, trip) = since
    }
    return pairs
  }

  // MARK: Finding how far the wall clock was set

  private static let goodCost: Int64 = 50_000
  private static let tripsCompared = 64
  private static let pingsTried = 600
  private static let noPing: Int64 = 1_000_000

  /// `current`, unless the trips from `trip` on fit the pings from `ping` on much better when the clock was set. On a
  /// grid of pings any offset gives pairs: which is right, their round-trip times and losses tell.
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

  /// How badly the next trips fit, in nanoseconds a trip.
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

  /// The last ping whose window has begun, if it has not ended.
  private func ping(around sentAt: Int64, _ offset: Int64) -> Ping? {
    var (low, high) = (0, pings.count)
    while low < high {
      let middle = (low + high) / 2
      if window(pings[middle], offset).lowerBound <= sentAt { low = middle + 1 } else { high = middle }
    }
    guard low > 0, window(pings[low - 1], offset).contains(sentAt) else { return nil }
    return pings[low - 1]
  }
}

/// Whether so little has fitted lately that the clock may have been set. A pure value.
private struct Doubt {
  private var bad = 0
  private var since = (ping: 0, trip: 0)
  // Looking is dear: it is done less often when there was nothing to be found, and not for ever.
  private var patience = 8
  private var searchesLeft = 50

  mutating func note(isGood: Bool, ping: Int, trip: Int) {
    if isGood {
      bad = max(0, bad - 1)
    } else {
      if bad == 0 { since = (ping, trip) }
      bad += 1
    }
  }

  /// Since when, if it is time to look.
  var isJustified: (ping: Int, trip: Int)? { bad >= patience && searchesLeft > 0 ? since : nil }

  mutating func settle(wasRight: Bool) {
    bad = 0
    searchesLeft -= 1
    patience = wasRight ? 8 : patience * 2
  }
}
