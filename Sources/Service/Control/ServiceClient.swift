import Coverage
import Driving
import Foundation
import Networking
import Settings
import Store
import Submission

/// Sends requests to a service on this host: HTTP over its unix socket (docs/service.md, The socket).
public struct ServiceClient: Sendable {
  private let path: String
  private let directory: StateDirectory

  public init(configuration: ProbeConfiguration) {
    path = configuration.servicePath
    directory = StateDirectory(path: configuration.stateDirectory)
  }

  /// The service's state.
  /// - Parameter asJSON: `true`: a JSON object; `false`: lines for an operator.
  public func status(asJSON: Bool) async throws(ServiceUnreachable) -> String {
    try await ask("status", accept: asJSON ? "application/json" : "text/plain", within: .seconds(5)).text
  }

  /// The service's state, and without a position the programs that have receivers' ports open: `port_holders` in the JSON object,
  /// or a line a port. This process looks for them: the service may not see those of other users.
  public func statusWithPortHolders(asJSON: Bool) async throws(ServiceUnreachable) -> String {
    let json = try await status(asJSON: true)
    let ports = PortQuestion(status: json).map { PortHolders(of: PortHolders.ports(with: $0.receivers)) }
    guard asJSON else { return ([try await status(asJSON: false)] + (ports?.lines ?? [])).joined(separator: "\n") }
    guard let ports, json.hasSuffix("}") else { return json }
    return "\(json.dropLast()),\"port_holders\":\(ports.json.text)}"
  }

  /// The service's state for a monitoring system: ``ServiceMetrics``.
  public func metrics() async throws(ServiceUnreachable) -> String {
    try await ask("metrics", within: .seconds(5)).text
  }

  /// Sends a command. The service answers before the drive has begun or ended.
  /// - Returns: The result in one line.
  public func send(_ command: ServiceCommand) async throws(ServiceUnreachable) -> String {
    try await ask(command.rawValue, isPost: true, within: .seconds(15)).text
  }

  /// Runs a request on the service that has the store open, because this process cannot open it.
  /// - Throws: `inUse` when another kind of program has the store open; ``ServiceUnreachable`` when the service
  ///   refuses.
  public func ask<Answer>(
    instead inUse: StoreError, _ command: (ServiceClient) async throws -> Answer
  ) async throws -> Answer {
    do {
      return try await command(self)
    } catch let error as ServiceUnreachable where error.reason == .absent {
      throw inUse
    }
  }

  /// Runs a pass in the service.
  public func submit(
    _ mode: PassMode, _ urgency: ServerGate.Urgency
  ) async throws(ServiceUnreachable) -> (line: String, outcome: CommandOutcome) {
    try await result(of: "submit?mode=\(mode.command)&force=\(urgency == .forced)", within: .seconds(3600))
  }

  /// Deletes a session or a speed test permanently.
  func forget(_ target: ForgetTarget) async throws(ServiceUnreachable) -> (line: String, outcome: CommandOutcome) {
    try await result(of: "forget?\(target.query)", within: .seconds(60))
  }

  /// Turns the status of an answer back into the outcome that ``ServiceSocket`` made it from.
  private func result(
    of command: String, within limit: Duration
  ) async throws(ServiceUnreachable) -> (line: String, outcome: CommandOutcome) {
    let (status, text) = try await ask(command, isPost: true, within: limit)
    return (text, status == 200 ? .done : status == 503 ? .kept : .failed)
  }

  /// - Parameters:
  ///   - what: The path without its slash, with the query.
  ///   - limit: The longest wait for the answer; a pass can take long.
  /// - Throws: ``ServiceUnreachable`` without an answer, and for status 403. Other statuses are returned.
  private func ask(
    _ what: String, isPost: Bool = false, accept: String = "text/plain", within limit: Duration
  ) async throws(ServiceUnreachable) -> (status: Int, text: String) {
    if let reason = SocketProbe.obstacle(to: path) { throw unreachable(reason) }
    var request = FetchRequest(url: "http://localhost/\(what)", limit: limit)
    (request.connection, request.body) = (.socket(path: path), isPost ? [] : nil)
    request.headers = ["Accept": accept]
    do {
      let answer = try await Fetcher().fetch(request)
      guard answer.status != 403 else { throw unreachable(.refused) }
      let text = String(decoding: answer.body, as: UTF8.self)
      return (answer.status, text.trimmingCharacters(in: .whitespacesAndNewlines))
    } catch let failure as FetchFailure {
      // After a broken connection, the kernel knows whether the service has ended meanwhile.
      throw unreachable(failure.cause == .timeout ? .silent : SocketProbe.obstacle(to: path) ?? .absent)
    } catch {
      throw error as? ServiceUnreachable ?? unreachable(.absent)
    }
  }

  /// Without a listening program, it names the process that uses the state directory: that can be an agent with another socket.
  private func unreachable(_ reason: ServiceUnreachable.Reason) -> ServiceUnreachable {
    ServiceUnreachable(
      path: path, reason: reason, directory: directory.path, holder: reason == .absent ? directory.holder : nil)
  }
}

extension PassMode {
  /// The name of a mode that the service accepts.
  fileprivate var command: String {
    switch self {
    case .warm: "warm"
    case .quarantined: "quarantined"
    case .cold, .drive, .memory: "cold"
    }
  }

  /// - Returns: `nil` for an unknown name.
  init?(command: String) {
    guard let mode = [PassMode.cold, .warm, .quarantined].first(where: { $0.command == command }) else { return nil }
    self = mode
  }
}

/// Checks whether a program listens on a unix socket.
enum SocketProbe {
  /// Connects, which the kernel answers at once.
  /// - Returns: Why a request would reach no service; `nil` when a program listens.
  static func obstacle(to path: String) -> ServiceUnreachable.Reason? {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .absent }
    defer { close(descriptor) }
    let name = Array(path.utf8)
    guard name.count <= UnixDatagram.longestName else { return .absent }
    let result = UnixDatagram.call(name) { Int(connect(descriptor, $0, $1)) }
    // EAGAIN: a program listens, and its queue of connections is full.
    if result == 0 || errno == EAGAIN { return nil }
    // This user may not search the path, or not use the socket.
    return errno == EACCES || errno == EPERM ? .refused : .absent
  }
}

/// No service answers, or not to this user.
public struct ServiceUnreachable: Error, Hashable, CustomStringConvertible {
  /// Absent: no program listens. Refused: not for this user. Silent: no answer in time.
  enum Reason { case absent, refused, silent }

  let path: String
  let reason: Reason
  let directory: String
  /// The process that uses the state directory; `nil` when none does.
  let holder: String?

  /// The reason and the remedy, in one line.
  public var description: String {
    switch reason {
    case .absent where holder != nil:
      "no service answers at \(path), but state directory \(directory) is in use by \(holder ?? ""): an agent makes a removed "
        + "socket again within seconds, or has another agent.socket; any other program takes no commands"
    case .absent: "no service answers at \(path); start it with \(Program.name) agent, or set agent.socket"
    case .refused: "the service at \(path) takes commands from root and its own user only"
    case .silent: "the service at \(path) has not answered in time; it may still run the command: see its log"
    }
  }
}

/// Whether to look for the programs that have receivers' ports open: only without a position, because the search goes through all
/// processes.
struct PortQuestion: Hashable, Sendable {
  /// The receivers that gpsd names.
  let receivers: [String]

  /// A receiver reports once a second; a position of this age came before some gap.
  private static let freshSeconds = 5.0

  /// - Parameter status: ``ServiceStatus``'s JSON.
  /// - Returns: `nil` when there is a position, and for text that is no such JSON.
  init?(status: String) {
    // A service of another version may answer otherwise: its status is shown without the ports.
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(status.utf8)) else { return nil }
    let isWaiting = answer.drives.contains { $0.warnings.contains { $0.hasPrefix(DriveStatus.waitingForGPS) } }
    let age = answer.position?.latitude == nil ? nil : answer.position?.age_s
    guard isWaiting || age.map({ $0 > Self.freshSeconds }) ?? true else { return nil }
    receivers = answer.receivers ?? []
  }

  /// The parts of the status that decide.
  private struct Answer: Decodable {
    struct Position: Decodable {
      let latitude: Double?
      let age_s: Double?
    }
    struct Drive: Decodable {
      let warnings: [String]
    }
    let position: Position?
    let receivers: [String]?
    let drives: [Drive]
  }
}
