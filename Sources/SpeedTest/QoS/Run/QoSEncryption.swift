/// Whether control connections to QoS servers use TLS: the control server's answer does not say.
public enum QoSEncryption: String, Hashable, Sendable, CaseIterable {
  /// TLS, which public servers use. When a server answers the handshake with another protocol, the connection is opened again
  /// without TLS; an attacker on the way can force this.
  case auto
  /// TLS only: with a server that lacks it, the tests that need this server fail.
  case always
  /// No TLS.
  case never
}
