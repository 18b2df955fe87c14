/// The outcome of one ping.
public enum PingOutcome: Hashable, Sendable {
  /// An answer came in time. The round-trip time (RFC 2681) is in nanoseconds; `isKernelStamped`: the kernel stamped both its ends.
  case answered(rttNanoseconds: Int64, isKernelStamped: Bool = false)
  /// No usable answer came in time.
  case failed(PingFailure)
  /// This host could not send it, nor `count - 1` pings after it: neither answered nor lost (docs/algorithm.md, 4).
  case unsent(count: Int = 1)

  /// Whether an answer came in time.
  public var isAnswered: Bool {
    if case .answered = self { true } else { false }
  }
}

/// Why a ping has no round-trip time. The raw values appear in drive logs.
public enum PingFailure: String, Hashable, Sendable, CaseIterable {
  /// No answer came within the timeout.
  case timeout
  /// The network did not carry the ping: an ICMP error, or there was no network to send it by (``UnsentPing``).
  case network
}

/// Figures of a fence's pings beyond those of the reference app. Times are in nanoseconds; `nil` without a ping to compute them from.
public struct PingFigures: Hashable, Sendable {
  /// Pings that were answered after the timeout. They count as not answered.
  public var late = 0
  /// Second and further answers to the same pings.
  public var duplicates = 0
  /// Pings that this host could not send. They count in no other figure.
  public var unsent = 0
  /// The distribution of the round-trip times.
  public var roundTrip: Distribution?
  /// All round-trip times, in bins.
  public var delays = DelayBins()
  /// Mean absolute delay variation (RFC 3393) between consecutive pings that were both answered.
  public var meanVariation: Int64?
  /// Mean round trip of the pings that the kernel stamped at both ends.
  public var kernelMean: Int64?

  /// The distribution of round-trip times. Percentiles are by nearest rank, so each is a time that was measured.
  public struct Distribution: Hashable, Sendable {
    /// The shortest round trip.
    public let minimum: Int64
    /// The 50th percentile.
    public let median: Int64
    /// The 95th percentile, of few round trips, too; outputs have ``Fence/percentile95``.
    public let percentile95: Int64
    /// The longest round trip.
    public let maximum: Int64

    /// A distribution with the given figures, in nanoseconds.
    public init(minimum: Int64, median: Int64, percentile95: Int64, maximum: Int64) {
      (self.minimum, self.median, self.percentile95, self.maximum) = (minimum, median, percentile95, maximum)
    }
  }

  /// The figures of a fence without pings.
  public init() {}
}
