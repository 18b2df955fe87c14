/// Whether control connections to QoS servers use TLS: the control server's answer does not say.
public enum QoSEncryption: String, Hashable, Sendable, CaseIterable {
  /// TLS, as public servers have it; a server that answers the handshake with another protocol is asked again without TLS.
  case auto
  /// TLS only.
  case always
  /// No TLS.
  case never
}
