/// The test of an objective by its type: the one place that knows all types.
enum QoSTestList {
  static func test(_ objective: QoSObjective) -> any QoSTest {
    let parameters = objective.parameters
    return switch objective.kind {
    case .tcp: TCPTest(parameters)
    case .udp: UDPTest(parameters)
    case .voip: VoIPTest(parameters)
    case .nonTransparentProxy: ProxyTest(parameters)
    case .httpProxy: HTTPProxyTest(parameters)
    case .dns: DNSTest(parameters)
    case .website: WebsiteTest(parameters)
    case .traceroute: TracerouteTest(parameters)
    case .tracerouteMasked: TracerouteTest(parameters, isMasked: true)
    }
  }
}
