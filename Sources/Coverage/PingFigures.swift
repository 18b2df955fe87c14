/// What is known of a fence's pings beyond the reference's figures. Times in nanoseconds; `nil` where no ping tells.
public struct PingFigures: Hashable, Sendable {
  /// Pings answered after the timeout; they are among those without an answer all the same.
  public var late = 0
  /// Answers to pings that had been answered.
  public var duplicates = 0
  public var roundTrip: Spread?
  /// Mean of the delay variation (RFC 3393) between consecutive pings that were both answered, without its sign.
  public var meanVariation: Int64?
  /// Mean round trip of the pings that the kernel stamped both ways.
  public var kernelMean: Int64?

  /// How round-trip times spread; percentiles by nearest rank, each one a time that was measured.
  public struct Spread: Hashable, Sendable {
    public let minimum: Int64
    public let median: Int64
    public let percentile95: Int64
    public let maximum: Int64

    public init(minimum: Int64, median: Int64, percentile95: Int64, maximum: Int64) {
      (self.minimum, self.median, self.percentile95, self.maximum) = (minimum, median, percentile95, maximum)
    }
  }

  public init() {}
}

/// The pings of a fence, as far as its figures need them: a fence can be one parking place for hours.
struct PingSamples {
  /// In microseconds: nothing becomes known of a ping that was sent longer ago. No ping waits longer than a minute.
  static let memory: Int64 = 120_000_000

  private struct Sample {
    let sent: DriveTime
    /// `nil` without an answer.
    let roundTrip: Int64?
  }

  /// In microseconds: pings further apart had another between them that is not here.
  private let reach: Int64

  /// In order of size.
  private var roundTrips: [Int64] = []
  private var variations = Mean()
  private var kernelStamped = Mean()
  /// The latest in order of sending: those between which another may still come.
  private var latest: [Sample] = []

  /// - Parameter interval: From ping to ping.
  init(interval: Duration) { reach = interval.inMicroseconds * 3 / 2 }

  mutating func add(_ outcome: PingOutcome, sent: DriveTime) {
    let index = latest.lastIndex { $0.sent <= sent }.map { $0 + 1 } ?? 0
    let before = index > 0 ? latest[index - 1] : nil
    let after = index < latest.count ? latest[index] : nil
    var roundTrip: Int64?
    if case .answered(let rtt, let isKernelStamped) = outcome {
      roundTrip = rtt
      if isKernelStamped { kernelStamped.add(rtt) }
      insert(rtt)
    }
    let sample = Sample(sent: sent, roundTrip: roundTrip)
    if let former = variation(before, after) { variations.remove(former) }
    for new in [variation(before, sample), variation(sample, after)] { if let new { variations.add(new) } }
    latest.insert(sample, at: index)
    forget()
  }

  /// Takes one of the latest samples out again.
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
    if place >= 0, roundTrips[place] == rtt { roundTrips.remove(at: place) }
  }

  /// Between two that follow each other here; `nil` where one has no answer or they were not sent one after the other.
  private func variation(_ former: Sample?, _ latter: Sample?) -> Int64? {
    guard let former, let latter, latter.sent.microseconds - former.sent.microseconds <= reach,
      let first = former.roundTrip, let second = latter.roundTrip
    else { return nil }
    return abs(second - first)
  }

  /// Sets what the samples tell; the counts of late and repeated answers are not theirs.
  func complete(_ figures: inout PingFigures) {
    figures.roundTrip = spread
    figures.meanVariation = variations.value
    figures.kernelMean = kernelStamped.value
  }

  private var spread: PingFigures.Spread? {
    guard let minimum = roundTrips.first, let maximum = roundTrips.last else { return nil }
    func rank(_ percent: Int) -> Int64 { roundTrips[(roundTrips.count * percent + 99) / 100 - 1] }
    return .init(minimum: minimum, median: rank(50), percentile95: rank(95), maximum: maximum)
  }

  private mutating func insert(_ rtt: Int64) { roundTrips.insert(rtt, at: place(of: rtt)) }

  /// Behind all that are not greater.
  private func place(of rtt: Int64) -> Int {
    var (low, high) = (0, roundTrips.count)
    while low < high {
      let middle = (low + high) / 2
      if roundTrips[middle] <= rtt { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Half of the samples at once, so that it is seldom done.
  private mutating func forget() {
    guard let newest = latest.last else { return }
    let half = latest.count / 2
    if latest[half].sent.microseconds < newest.sent.microseconds - Self.memory { latest.removeFirst(half) }
  }
}

private struct Mean {
  private var sum = 0.0
  private var count = 0

  /// `nil` of nothing.
  var value: Int64? { count > 0 ? Int64((sum / Double(count)).rounded()) : nil }

  mutating func add(_ value: Int64) { (sum, count) = (sum + Double(value), count + 1) }
  mutating func remove(_ value: Int64) { (sum, count) = (sum - Double(value), count - 1) }
}
