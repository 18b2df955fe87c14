import Foundation
import OrderedJSON

/// Tests whether a middlebox rewrites a line that looks like HTTP: the server sends the line back as it came.
struct ProxyTest: QoSTest {
  /// The line as it came back, and whether it equals the request.
  struct Finding: Hashable, Sendable {
    let response: String
    let isUnchanged: Bool
  }

  let port: UInt16?
  /// One line without its end, at most 1000 characters.
  let request: String
  let limit: Int64
  let objective: [JSON.Member]

  init(_ parameters: QoSParameters) {
    port = parameters.port("port")
    // One line: what stands behind a line break would be a second request.
    request = String((parameters.text("request") ?? "").prefix { !$0.isNewline }.prefix(1000))
    limit = parameters.time("timeout", standard: 5_000_000_000)
    objective = parameters.members("nontransproxy_objective_", "request", "timeout", "port")
  }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let control = context.control, let port, !request.isEmpty else {
      throw .protocolError("a proxy test without a port or request")
    }
    let waiting = context.waiting(limit)
    let reply = try control.request(.proxy(port: port), until: waiting.deadline)
    guard reply == "OK" else { throw .commandRefused("NTPTEST") }
    let dialer = Dialer(waiting: waiting, source: control.local, interface: context.interface)
    let socket = CountedTransport(try dialer.connect(control.peer.with(port: port)), context.traffic)
    let lines = LineExchange(socket: socket, waiting: waiting)
    try lines.send(request)
    return compare(try lines.receive())
  }

  /// A changed line is a result with the status ERROR, not a failure of the test.
  func compare(_ response: String) -> Finding { Finding(response: response, isUnchanged: response == request) }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members([
      "nontransproxy_result": .string(status(finding).rawValue),
      "nontransproxy_result_response": .string(finding.response),
    ])
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members(["nontransproxy_result": .string(reason.rawValue)])
  }

  func status(_ finding: Finding) -> QoSStatus { finding.isUnchanged ? .ok : .error }
}
