/// Whether the control connections of QoS tests use TLS: `speedtest.qos-tls`.
public enum QoSTLS: String, Hashable, Sendable, CaseIterable {
  /// TLS, or none with a server that does not speak it.
  case auto
  /// TLS only.
  case always
  /// No TLS.
  case never
}
