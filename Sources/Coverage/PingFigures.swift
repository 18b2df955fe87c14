/// What is known of a fence's pings beyond the reference's figures. Times in nanoseconds; `nil` where no ping tells.
public struct PingFigures: Hashable, Sendable {
  /// Pings answered after the timeout; they are among those without an answer all the same.
  public var late = 0
  /// Answers to pings that had been answered.
  public var duplicates = 0
  public var roundTrip: Spread?
  /// Mean of the delay variation (RFC 3393) between neighbours that were both answered, without its sign.
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

/// The single pings of a fence, in order of sending.
struct PingSamples {
  private struct Sample {
    let sent: DriveTime
    let outcome: PingOutcome
  }

  private var samples: [Sample] = []

  mutating func add(_ outcome: PingOutcome, sent: DriveTime) {
    let index = samples.lastIndex { $0.sent <= sent }.map { $0 + 1 } ?? 0
    samples.insert(Sample(sent: sent, outcome: outcome), at: index)
  }

  /// Sets what the samples tell; the counts of late and repeated answers are not theirs.
  func complete(_ figures: inout PingFigures) {
    figures.roundTrip = spread
    figures.meanVariation = Self.mean(
      zip(samples, samples.dropFirst()).compactMap { before, after in
        guard case .answered(let first, _) = before.outcome, case .answered(let second, _) = after.outcome
        else { return nil }
        return abs(second - first)
      })
    figures.kernelMean = Self.mean(
      samples.compactMap { if case .answered(let rtt, isKernelStamped: true) = $0.outcome { rtt } else { nil } })
  }

  private var spread: PingFigures.Spread? {
    let sorted = samples.compactMap { if case .answered(let rtt, _) = $0.outcome { rtt } else { nil } }.sorted()
    guard let minimum = sorted.first, let maximum = sorted.last else { return nil }
    func rank(_ percent: Int) -> Int64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
    return .init(minimum: minimum, median: rank(50), percentile95: rank(95), maximum: maximum)
  }

  private static func mean(_ values: [Int64]) -> Int64? {
    guard !values.isEmpty else { return nil }
    return Int64((values.reduce(0) { $0 + Double($1) } / Double(values.count)).rounded())
  }
}
