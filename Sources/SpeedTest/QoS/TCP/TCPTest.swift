import Foundation
import OrderedJSON

/// Tests whether TCP connections are possible to a port of the server (out), and from the server to a port of this host (in,
/// `back`). A direction without a port in the objective is not tested.
struct TCPTest: QoSTest {
  /// The status of a direction, and the line that came.
  struct Reach: Hashable, Sendable {
    var status: QoSStatus
    var response: String?
  }

  struct Finding: Sendable {
    var out: Reach?
    var back: Reach?
  }

  let outPort: UInt16?
  let inPort: UInt16?
  private let timeout: Int64
  let objective: [JSON.Member]

  /// The line that the server sends back.
  static let request = "PING"

  init(_ parameters: QoSParameters) {
    outPort = parameters.port("out_port")
    inPort = parameters.port("in_port")
    timeout = parameters.time("timeout", standard: 5_000_000_000)
    objective = parameters.members("tcp_objective_", "timeout", "out_port", "in_port")
  }

  /// The directions run one after the other, each with the timeout of the objective.
  var limit: Int64 { timeout * (outPort != nil && inPort != nil ? 2 : 1) }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let control = context.control, outPort != nil || inPort != nil else {
      throw .protocolError("a TCP test without a port")
    }
    var finding = Finding()
    if let outPort { finding.out = reach(context) { try out(outPort, control, $0, context) } }
    if let inPort { finding.back = reach(context) { try back(inPort, control, $0, context) } }
    return finding
  }

  /// Runs one direction. Its failure becomes its status, so that the other direction has its result all the same.
  private func reach(_ context: QoSContext, _ body: (Waiting) throws -> Reach) -> Reach {
    do {
      return try body(context.waiting(timeout))
    } catch {
      return Reach(status: (error as? SpeedTestError).map(QoSStatus.init) ?? .error)
    }
  }

  /// The server listens and sends the line back. The connection leaves from the address of the control connection.
  private func out(
    _ port: UInt16, _ control: QTPConnection, _ waiting: Waiting, _ context: QoSContext
  ) throws(SpeedTestError) -> Reach {
    let reply = try control.request(.tcpOut(port: port), until: waiting.deadline)
    guard reply == "OK" else { throw .commandRefused("TCPTEST OUT") }
    let dialer = Dialer(waiting: waiting, source: control.local, interface: context.interface)
    let socket = try dialer.connect(control.peer.with(port: port))
    let lines = LineExchange(socket: CountedTransport(socket, context.traffic), waiting: waiting)
    try lines.send(Self.request)
    let response = try lines.receive()
    return Reach(status: response == Self.request ? .ok : .error, response: response)
  }

  /// The server connects to this host and sends `HELLO TO port`. The command has no reply, and the socket listens before the
  /// command leaves (docs/protocol.md, edges 41 and 42).
  private func back(
    _ port: UInt16, _ control: QTPConnection, _ waiting: Waiting, _ context: QoSContext
  ) throws(SpeedTestError) -> Reach {
    let listener = try LineListener(on: control.local.with(port: port), interface: context.interface)
    try control.order(.tcpIn(port: port))
    let socket = CountedTransport(try listener.accept(waiting), context.traffic)
    let response = try LineExchange(socket: socket, waiting: waiting).receive()
    return Reach(status: response == "HELLO TO \(port)" ? .ok : .error, response: response)
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    JSON.members([
      "tcp_result_out": finding.out.map { .string($0.status.rawValue) },
      "tcp_result_out_response": finding.out?.response.map(JSON.string),
      "tcp_result_in": finding.back.map { .string($0.status.rawValue) },
      "tcp_result_in_response": finding.back?.response.map(JSON.string),
    ])
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    members(
      Finding(out: outPort.map { _ in Reach(status: reason) }, back: inPort.map { _ in Reach(status: reason) }))
  }

  /// The first direction that is not OK decides.
  func status(_ finding: Finding) -> QoSStatus {
    [finding.out, finding.back].compactMap { $0?.status }.first { $0 != .ok } ?? .ok
  }
}
