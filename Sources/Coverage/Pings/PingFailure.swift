/// Why a ping has no round-trip time. The raw values appear in drive logs.
public enum PingFailure: String, Hashable, Sendable, CaseIterable {
  /// No answer came within the timeout.
  case timeout
  /// The network refused to carry the ping: an error of the send call, or an ICMP error.
  case network
}
