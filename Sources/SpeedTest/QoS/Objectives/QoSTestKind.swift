/// The types of QoS tests that can be run here, as the control server names them.
public enum QoSTestKind: String, Hashable, Sendable, CaseIterable {
  case tcp, udp, voip
  case nonTransparentProxy = "non_transparent_proxy"
  case httpProxy = "http_proxy"
  case dns
  /// A plain fetch of the page: no browser renders it.
  case website
  case traceroute
  /// A traceroute whose result leaves out the last part of the addresses.
  case tracerouteMasked = "traceroute_masked"

  /// Whether the test needs a QoS server.
  var needsServer: Bool {
    switch self {
    case .tcp, .udp, .voip, .nonTransparentProxy: true
    case .httpProxy, .dns, .website, .traceroute, .tracerouteMasked: false
    }
  }
}
