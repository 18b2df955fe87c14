/// What became of one ping.
public enum PingOutcome: Hashable, Sendable {
  /// An answer came in time; the round-trip time (RFC 2681) in nanoseconds, and whether the kernel stamped both its ends.
  case answered(rttNanoseconds: Int64, isKernelStamped: Bool = false)
  /// No usable answer.
  case failed(PingFailure)

  public var isAnswered: Bool {
    if case .answered = self { true } else { false }
  }
}

/// Why a ping has no round-trip time.
public enum PingFailure: String, Hashable, Sendable, CaseIterable {
  /// Nothing came within the timeout.
  case timeout
  /// The network refused to carry it: a send error or an ICMP error.
  case network
}
