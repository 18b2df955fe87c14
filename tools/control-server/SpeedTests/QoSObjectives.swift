/// The objectives of a QoS run, all against the loopback interface: each type that this program knows. All values are text, and times are nanoseconds.
enum QoSObjectives {
  private struct Objective {
    let type: String
    let group: Int
    let parameters: [(String, String)]
  }

  private static let timeout = ("timeout", "5000000000")

  /// - Parameter page: The URL that the tests of HTTP fetch.
  static func json(at places: QoSPlaces, page: String) -> JSONValue {
    var types: [String] = []
    var lists: [String: [JSONValue]] = [:]
    for (index, objective) in all(at: places, page: page).enumerated() {
      if lists[objective.type] == nil { types.append(objective.type) }
      let common = [
        ("qos_test_uid", String(index + 1)), ("concurrency_group", String(objective.group)),
        ("server_addr", places.server.host), ("server_port", String(places.server.port)),
      ]
      lists[objective.type, default: []].append(
        .object((common + objective.parameters).map { .init(key: $0.0, value: .string($0.1)) }))
    }
    return .object(types.map { .init(key: $0, value: .array(lists[$0] ?? [])) })
  }

  private static func all(at places: QoSPlaces, page: String) -> [Objective] {
    let ports = (0..<5).map { String(places.firstPort + $0) }
    let packets = [("delay", "100000000"), timeout]
    let call = [
      ("out_port", String(places.callPort)), ("call_duration", "2000000000"), ("sample_rate", "8000"),
      ("bits_per_sample", "8"),
      ("delay", "20000000"), ("payload", "8"), ("buffer", "100000000"), timeout,
    ]
    let route = [("host", "127.0.0.1"), ("max_hops", "10"), timeout]
    return [
      .init(type: "tcp", group: 200, parameters: [("out_port", ports[0]), timeout]),
      .init(type: "tcp", group: 200, parameters: [("in_port", ports[1]), timeout]),
      .init(type: "udp", group: 201, parameters: [("out_port", ports[2]), ("out_num_packets", "6")] + packets),
      .init(type: "udp", group: 201, parameters: [("in_port", ports[3]), ("in_num_packets", "6")] + packets),
      .init(
        type: "non_transparent_proxy", group: 300,
        parameters: [("port", ports[4]), ("request", "GET / HTTR/7.9"), timeout]),
      .init(type: "voip", group: 301, parameters: call),
      .init(
        type: "dns", group: 400,
        parameters: [("host", "localhost"), ("record", "A"), ("resolver", places.resolver), ("timeout", "1000000000")]),
      .init(
        type: "http_proxy", group: 500,
        parameters: [
          ("url", page), ("range", "bytes=0-99"), ("download_timeout", "5000000000"), ("conn_timeout", "5000000000"),
        ]),
      .init(type: "website", group: 600, parameters: [("url", page), timeout]),
      .init(type: "traceroute", group: 700, parameters: route),
      .init(type: "traceroute_masked", group: 700, parameters: route),
    ]
  }
}
