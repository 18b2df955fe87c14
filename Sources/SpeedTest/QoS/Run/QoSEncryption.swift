/// Whether control connections to QoS servers use TLS: the control server's answer does not say.
public enum QoSEncryption: String, Hashable, Sendable, CaseIterable {
  /// TLS, as public servers have it. A server that answers the handshake with another protocol is connected to again, without
  /// TLS. An attacker on the way can answer so too.
  case auto
  /// TLS only: with a server that lacks it, the tests that need this server fail.
  case always
  /// No TLS.
  case never
}
