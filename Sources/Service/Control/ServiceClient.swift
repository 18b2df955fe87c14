import Foundation
import Networking
import Settings
import Store
import Submission

/// Sends requests to a service on this host: HTTP over its unix socket (docs/service.md, The socket).
public struct ServiceClient: Sendable {
  private let path: String
  private let directory: StateDirectory

  /// - Parameter configuration: Names the service's socket and the state directory.
  public init(configuration: ProbeConfiguration) {
    path = configuration.servicePath
    directory = StateDirectory(path: configuration.stateDirectory)
  }

  /// The service's state.
  /// - Parameter asJSON: `true`: a JSON object; `false`: lines for an operator.
  /// - Throws: ``ServiceUnreachable``
  public func status(asJSON: Bool) async throws(ServiceUnreachable) -> String {
    try await ask("status", accept: asJSON ? "application/json" : "text/plain", within: .seconds(5)).text
  }

  /// The service's state, and without a position the programs that have receivers' ports open: `port_holders` in the JSON object,
  /// or a line a port. This process looks for them: the service may not see those of other users.
  /// - Parameter asJSON: As of ``status(asJSON:)``.
  /// - Throws: ``ServiceUnreachable``
  public func statusWithPortHolders(asJSON: Bool) async throws(ServiceUnreachable) -> String {
    let json = try await status(asJSON: true)
    let ports = PortQuestion(status: json).map { PortHolders(of: PortHolders.ports(with: $0.receivers)) }
    guard asJSON else { return ([try await status(asJSON: false)] + (ports?.lines ?? [])).joined(separator: "\n") }
    guard let ports, json.hasSuffix("}") else { return json }
    return "\(json.dropLast()),\"port_holders\":\(ports.json.text)}"
  }

  /// The service's state for a monitoring system: ``ServiceMetrics``.
  /// - Throws: ``ServiceUnreachable``
  public func metrics() async throws(ServiceUnreachable) -> String {
    try await ask("metrics", within: .seconds(5)).text
  }

  /// Sends a command. The service answers before the drive has begun or ended.
  /// - Returns: The result in one line.
  /// - Throws: ``ServiceUnreachable``
  public func send(_ command: ServiceCommand) async throws(ServiceUnreachable) -> String {
    try await ask(command.rawValue, isPost: true, within: .seconds(15)).text
  }

  /// Runs a request on the service that has the store open, because this process cannot open it.
  /// - Parameters:
  ///   - inUse: The error of opening the store here.
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
  /// - Throws: ``ServiceUnreachable``
  public func submit(
    _ mode: PassMode, _ urgency: ServerGate.Urgency
  ) async throws(ServiceUnreachable) -> (line: String, outcome: CommandOutcome) {
    try await result(of: "submit?mode=\(mode.command)&force=\(urgency == .forced)", within: .seconds(3600))
  }

  /// Deletes a session or a speed test permanently.
  /// - Throws: ``ServiceUnreachable``
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

  /// Sends one request.
  /// - Parameters:
  ///   - what: The path without its slash, with the query.
  ///   - limit: The longest wait for the answer; a pass can take long.
  /// - Throws: ``ServiceUnreachable`` without an answer, and for status 403. Other statuses are returned.
  private func ask(
    _ what: String, isPost: Bool = false, accept: String = "text/plain", within limit: Duration
  ) async throws(ServiceUnreachable) -> (status: Int, text: String) {
    if let reason = SocketProbe.obstacle(to: path) { throw unreachable(reason) }
    var request = FetchRequest(url: "http://localhost/\(what)", limit: limit)
    (request.socketPath, request.isPost, request.isFresh) = (path, isPost, true)
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
