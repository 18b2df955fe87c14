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
