/// The samples from which the figures of one fence are computed. A device can stay in one fence for hours, so single pings stay only as
/// long as a neighbour of theirs can still come.
struct PingSamples {
  /// In microseconds. No ping waits longer than a minute for its answer, so the outcome of a ping that was sent this long ago is known.
  static let memory: Int64 = 120_000_000

  private struct Sample {
    let sent: DriveTime
    /// `nil` without an answer.
    let roundTrip: Int64?
  }

  /// A mean to which values can be added and from which they can be removed.
  private struct Mean {
    private var sum = 0.0
    private var count = 0

    /// `nil` without values.
    var value: Int64? { count > 0 ? Int64((sum / Double(count)).rounded()) : nil }

    mutating func add(_ value: Int64) { (sum, count) = (sum + Double(value), count + 1) }
    mutating func remove(_ value: Int64) { (sum, count) = (sum - Double(value), count - 1) }
  }

  /// In microseconds (``DelayVariation/reach(interval:)``).
  private let reach: Int64

  /// In ascending order.
  private var roundTrips: [Int64] = []
  private var delays = DelayBins()
  private var variations = Mean()
  private var kernelStamped = Mean()
  /// The latest samples in order of sending. A sample between two of them may still come.
  private var latest: [Sample] = []

  /// - Parameter interval: The interval at which pings are sent.
  init(interval: Duration) { reach = DelayVariation.reach(interval: interval) }

  mutating func add(_ outcome: PingOutcome, sent: DriveTime) {
    if case .unsent = outcome { return }
    let index = latest.lastIndex { $0.sent <= sent }.map { $0 + 1 } ?? 0
    let before = index > 0 ? latest[index - 1] : nil
    let after = index < latest.count ? latest[index] : nil
    var roundTrip: Int64?
    if case .answered(let rtt, let isKernelStamped) = outcome {
      roundTrip = rtt
      if isKernelStamped { kernelStamped.add(rtt) }
      insert(rtt)
      delays.add(nanoseconds: rtt)
    }
    let sample = Sample(sent: sent, roundTrip: roundTrip)
    if let former = variation(before, after) { variations.remove(former) }
    for new in [variation(before, sample), variation(sample, after)] { if let new { variations.add(new) } }
    latest.insert(sample, at: index)
    dropOldSamples()
  }

  /// Takes back ``add(_:sent:)``; does nothing when the sample is not among the latest.
  mutating func remove(_ outcome: PingOutcome, sent: DriveTime) {
    var roundTrip: Int64?
    if case .answered(let rtt, _) = outcome { roundTrip = rtt }
    guard let index = latest.lastIndex(where: { $0.sent == sent && $0.roundTrip == roundTrip }) else { return }
    let sample = latest.remove(at: index)
    let before = index > 0 ? latest[index - 1] : nil
    let after = index < latest.count ? latest[index] : nil
    for former in [variation(before, sample), variation(sample, after)] { if let former { variations.remove(former) } }
    if let joined = variation(before, after) { variations.add(joined) }
    guard case .answered(let rtt, let isKernelStamped) = outcome else { return }
    if isKernelStamped { kernelStamped.remove(rtt) }
    let place = self.place(of: rtt) - 1
    guard place >= 0, roundTrips[place] == rtt else { return }
    roundTrips.remove(at: place)
    delays.remove(nanoseconds: rtt)
  }

  /// The delay variation between two neighbours; `nil` where one has no answer, or another ping was sent between them.
  private func variation(_ former: Sample?, _ latter: Sample?) -> Int64? {
    guard let former, let latter, latter.sent.microseconds - former.sent.microseconds <= reach,
      let first = former.roundTrip, let second = latter.roundTrip
    else { return nil }
    return DelayVariation.between(first, second)
  }

  /// Sets the figures that come from samples; ``PingFigures/late`` and ``PingFigures/duplicates`` stay.
  func complete(_ figures: inout PingFigures) {
    figures.roundTrip = distribution
    figures.delays = delays
    figures.meanVariation = variations.value
    figures.kernelMean = kernelStamped.value
  }

  private var distribution: PingFigures.Distribution? {
    guard let minimum = roundTrips.first, let maximum = roundTrips.last, let median = roundTrips.nearestRank(50),
      let percentile95 = roundTrips.nearestRank(95)
    else { return nil }
    return .init(minimum: minimum, median: median, percentile95: percentile95, maximum: maximum)
  }

  private mutating func insert(_ rtt: Int64) { roundTrips.insert(rtt, at: place(of: rtt)) }

  /// The index behind all round trips that are not greater.
  private func place(of rtt: Int64) -> Int { roundTrips.partitionPoint({ $0 <= rtt }) }

  /// Drops the older half once it is old enough: one removal for many samples.
  private mutating func dropOldSamples() {
    guard let newest = latest.last else { return }
    let half = latest.count / 2
    if latest[half].sent.microseconds < newest.sent.microseconds - Self.memory { latest.removeFirst(half) }
  }
}

/// The variation of delay between two consecutive pings (RFC 3393, 4.2), without its sign.
public enum DelayVariation {
  /// In nanoseconds: no ping waits an hour for its answer, so a larger difference comes from a wrong clock.
  private static let largest: Int64 = 3_600_000_000_000

  /// The greatest distance between two consecutive pings, in microseconds: one and a half intervals. At a greater
  /// distance, a ping between them counts elsewhere or is missing.
  /// - Parameter interval: The interval at which pings are sent.
  public static func reach(interval: Duration) -> Int64 { interval.inMicroseconds.saturatingMultiplied(by: 3) / 2 }

  /// The absolute difference of the delays of two consecutive pings, in nanoseconds; `nil` above an hour: the far
  /// end's clock is wrong or was set.
  public static func between(_ former: Int64, _ latter: Int64) -> Int64? {
    let difference = latter.saturatingSubtracting(former).saturatingMagnitude
    return difference <= largest ? difference : nil
  }
}
