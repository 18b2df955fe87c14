/// Why a ping has no round-trip time. The raw values appear in drive logs.
public enum PingFailure: String, Hashable, Sendable, CaseIterable {
  /// No answer came within the timeout.
  case timeout
  /// The network did not carry the ping: an ICMP error, or there was no network to send it by (``UnsentPing``).
  case network
}
