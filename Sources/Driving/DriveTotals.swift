import Coverage

/// What a drive on one link has counted from its beginning; it never decreases, and totals of several drives can be added.
public struct DriveTotals: Hashable, Sendable {
  /// Pings with a known result.
  public private(set) var pings = 0
  /// Of ``pings``, those without an answer in time.
  public private(set) var lost = 0
  /// Pings that this host could not send; they are not among ``pings``.
  public private(set) var unsent = 0
  /// The round-trip times of the others.
  public private(set) var delays = DelayHistogram()
  /// Of ``lost``, those that were answered after the timeout.
  public private(set) var late = 0
  /// Where the pings count. Some seconds after its result, when its place is final, each of ``pings`` is counted once.
  public private(set) var places = PingPlaceCounts()
  /// Fences, the open one included.
  public var fences = 0

  /// Nothing counted.
  public init() {}

  /// Counts one ping.
  public mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      unsent = unsent.saturatingAdding(count)
      return
    }
    pings = pings.saturatingAdding(1)
    switch outcome {
    case .answered(let rttNanoseconds, _): delays.count(rttNanoseconds)
    case .failed, .unsent: lost = lost.saturatingAdding(1)
    }
  }

  /// All pings, for an operator.
  var tally: PingTally {
    var tally = PingTally()
    (tally.pings, tally.unsent) = (pings, unsent)
    (tally.answered, tally.rttSumNanoseconds) = (delays.count, delays.sumNanoseconds)
    return tally
  }

  /// The counts that the engine keeps: fences, late answers and places.
  mutating func follow(_ engine: Engine) {
    (fences, late, places) = (engine.fences.count, engine.pings.late, engine.settledPings)
  }

  /// Adds the totals of another drive.
  public mutating func add(_ other: DriveTotals) {
    pings = pings.saturatingAdding(other.pings)
    lost = lost.saturatingAdding(other.lost)
    unsent = unsent.saturatingAdding(other.unsent)
    late = late.saturatingAdding(other.late)
    places.inFences = places.inFences.saturatingAdding(other.places.inFences)
    places.outside = places.outside.saturatingAdding(other.places.outside)
    places.paused = places.paused.saturatingAdding(other.places.paused)
    delays.add(other.delays)
    fences = fences.saturatingAdding(other.fences)
  }
}

/// Round-trip times counted in buckets with fixed bounds, for monitoring systems: histograms of several drives can be added.
public struct DelayHistogram: Hashable, Sendable {
  /// The upper bounds of the buckets in nanoseconds, inclusive; times above the last one are counted in none of them.
  public static let bounds: [Int64] = [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000].map { $0 * 1_000_000 }

  /// How many times lie in each bucket and above the bound before it, in the order of ``bounds``.
  private var counts = [Int](repeating: 0, count: bounds.count)
  /// All times.
  public private(set) var count = 0
  /// The sum of all times in nanoseconds; saturates.
  public private(set) var sumNanoseconds: Int64 = 0

  /// No times.
  public init() {}

  /// Counts a round-trip time.
  public mutating func count(_ nanoseconds: Int64) {
    count = count.saturatingAdding(1)
    sumNanoseconds = sumNanoseconds.saturatingAdding(max(0, nanoseconds))
    if let bucket = Self.bounds.firstIndex(where: { nanoseconds <= $0 }) {
      counts[bucket] = counts[bucket].saturatingAdding(1)
    }
  }

  /// How many times are at most each of ``bounds``.
  public var cumulative: [Int] {
    var sum = 0
    return counts.map { count in
      sum = sum.saturatingAdding(count)
      return sum
    }
  }

  /// Adds the times of `other`.
  public mutating func add(_ other: DelayHistogram) {
    for bucket in counts.indices { counts[bucket] = counts[bucket].saturatingAdding(other.counts[bucket]) }
    count = count.saturatingAdding(other.count)
    sumNanoseconds = sumNanoseconds.saturatingAdding(other.sumNanoseconds)
  }
}

/// Pings counted over a period.
public struct PingTally: Hashable, Sendable {
  /// Pings with a known result.
  public var pings = 0
  /// Pings answered in time.
  public var answered = 0
  /// Pings that this host could not send; they are not among ``pings``.
  public var unsent = 0
  /// The sum of the round-trip times of ``answered`` pings.
  public var rttSumNanoseconds: Int64 = 0

  /// No pings.
  public init() {}

  /// Counts one ping.
  public mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      unsent = unsent.saturatingAdding(count)
      return
    }
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      answered += 1
      rttSumNanoseconds = rttSumNanoseconds.saturatingAdding(rttNanoseconds)
    }
  }

  /// The mean delay in milliseconds; `nil` without an answer.
  public var meanMilliseconds: Double? { answered > 0 ? Double(rttSumNanoseconds) / Double(answered) / 1e6 : nil }

  /// Mean delay and loss, e.g. `31.7 ms 0 % lost`, and the number of pings that could not be sent if there are any.
  public var line: String { measured + (unsent > 0 ? ", \(counted(unsent, "ping")) not sent" : "") }

  private var measured: String {
    guard pings > 0 else { return "no pings" }
    let mean = meanMilliseconds.map { "\(DecimalText.of($0, places: 1)) ms" } ?? "- ms"
    let loss = Double(pings - answered) / Double(pings) * 100
    return "\(mean) \(DecimalText.of(loss, places: loss > 0 && loss < 10 ? 1 : 0)) % lost"
  }
}
