import Coverage
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import OrderedJSON
import Submission

/// Accepts commands for the service: HTTP over a unix socket, open to root and to the user that the service runs as. Members of
/// the socket's group, if one is set, may ask, but give no commands.
///
///     GET  /status                     the state; lines for an operator with `Accept: text/plain`
///     GET  /metrics                    the same for a monitoring system
///     POST /start /stop /pause /resume
///     POST /submit?mode=M&force=true   a pass, cold, warm or quarantined; answers when it has ended
///     POST /forget?session=ID
///     POST /forget?speed-test=ID
struct ServiceSocket: Sendable {
  let path: String
  /// Whose members may ask for the state; `nil`: no group's.
  var group: SocketGroup?
  let service: any ServiceCommands
  let logger: Logger
  /// The time for a request, and between two of a connection.
  var headLimit = ServerConnections.headLimit

  static let mostConnections = 64
  static let mostConnectionsOfUser = 16

  /// Serves until the task is cancelled, and removes the socket at the end. A socket that was removed, or that could not be
  /// created for lack of space, is created later.
  /// - Parameter onStart: Called when the service accepts commands, or will accept them as soon as the host lets it.
  /// - Throws: The reason why no socket can be created at the path.
  func run(onStart: @escaping @Sendable () -> Void) async throws(ServiceSocketError) {
    // A socket here is left from a killed process: the writer lock excludes another service.
    removeSocket()
    defer { removeSocket() }
    var isFirst = true
    var trouble: String?
    while !Task.isCancelled {
      do {
        if !isFirst, trouble == nil { logger.warning("the socket for commands, \(path), is gone; creating it again") }
        try await serveWhileItIsThere { [isFirst] in
          if isFirst {
            logger.info(
              "accepting commands at \(path)",
              metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.serviceStarted)])
          } else {
            logger.notice("accepting commands at \(path) again")
          }
          onStart()
        }
        (trouble, isFirst) = (nil, false)
      } catch {
        if Task.isCancelled { return }
        let error = ServiceSocketError(path: path, cause: error)
        guard !isFirst || error.isTransient else { throw error }
        if "\(error)" != trouble { logger.error("\(error); trying again each second") }
        trouble = "\(error)"
        // A drive needs no commands.
        onStart()
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Serves until the task is cancelled, or the path no longer leads to the socket created here.
  private func serveWhileItIsThere(onReady: @escaping @Sendable () -> Void) async throws {
    let (identities, ready) = AsyncStream<[UInt64]?>.makeStream()
    try await withThrowingTaskGroup { group in
      group.addTask {
        try await serve {
          // Read the identity first: from `onReady` on, a client can find and remove the socket.
          ready.yield(identity)
          onReady()
        }
      }
      group.addTask {
        var made: [UInt64]?
        for await identity in identities {
          made = identity
          break
        }
        while !Task.isCancelled, identity == made { try? await Task.sleep(for: .seconds(1)) }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Identifies the file at the path; `nil` when there is none.
  private var identity: [UInt64]? {
    var status = stat()
    return lstat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
  }

  /// Serves at the path until the task is cancelled. An error of the start, such as a missing directory, ends it before
  /// `onReady`.
  private func serve(onReady: @escaping @Sendable () -> Void) async throws {
    let router = Router(context: ChannelContext.self)
    router.addMiddleware {
      PeerCheck(mayGroupAsk: group != nil)
      MethodCheck()
    }
    router.get("status") { request, _ in
      let status = await service.status()
      return request.headers[.accept] == "text/plain"
        ? Self.response(status.lines.joined(separator: "\n"))
        : Self.response(status.json.text, type: "application/json")
    }
    for command in ServiceCommand.allCases {
      router.post(RouterPath(command.rawValue)) { _, _ in Self.response(await service.perform(command)) }
    }
    router.get("metrics") { _, _ in
      Self.response(ServiceMetrics(await service.status()).text, type: MetricsText.contentType)
    }
    router.post("submit") { request, _ in
      let wanted = request.uri.queryParameters
      guard let mode = PassMode(command: wanted["mode"].map(String.init) ?? "cold") else {
        return Self.response("mode: one of cold, warm, quarantined", status: .badRequest)
      }
      return Self.response(await service.submit(mode, wanted["force"] == "true" ? .forced : .commanded))
    }
    router.post("forget") { request, _ in
      let parameters = request.uri.queryParameters
      guard let target = ForgetTarget(query: { name in parameters[Substring(name)].map(String.init) }) else {
        return Self.response("session or speed-test: an id", status: .badRequest)
      }
      return Self.response(await service.forget(target))
    }
    // The HTTP server's own lines are not for operators.
    var quiet = logger
    quiet.logLevel = .critical
    let connections = ServerConnections(.users, most: Self.mostConnections, mostOfPeer: Self.mostConnectionsOfUser)
    let application = Application(
      router: router, server: connections.server(headLimit: headLimit),
      configuration: .init(
        address: .unixDomainSocket(path: path), serverName: Program.name, availableConnectionsDelegate: connections),
      onServerRunning: { _ in
        // In a shared directory, the mode of the socket excludes other users.
        chmod(path, 0o660)
        admitGroup()
        onReady()
      }, logger: quiet)
    try await ServerConnections.run(application, onStop: removeSocket)
  }

  /// Without the group, the socket still works for root and the service's user.
  private func admitGroup() {
    do throws(SocketGroup) {
      try group?.admit(to: path)
    } catch {
      logger.error("\(error)")
    }
  }

  /// Removes a socket only: a wrong path may lead to any other file.
  private func removeSocket() {
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
  }

  /// The outcome as a status; ``ServiceClient`` turns it back.
  private static func response(_ result: (line: String, outcome: CommandOutcome)) -> Response {
    let status: HTTPResponse.Status =
      switch result.outcome {
      case .done, .unmeasured: .ok
      case .kept: .serviceUnavailable
      case .failed: .internalServerError
      }
    return response(result.line, status: status)
  }

  private static func response(
    _ text: String, status: HTTPResponse.Status = .ok, type: String = "text/plain; charset=utf-8"
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text + "\n")))
  }
}

/// Answers a wrong method with 405 and the right one; the router would answer 404.
private struct MethodCheck: RouterMiddleware {
  private static let asking: Set<String> = ["/status", "/metrics"]
  private static let ordering = Set(ServiceCommand.allCases.map { "/" + $0.rawValue } + ["/submit", "/forget"])

  func handle(
    _ request: Request, context: ChannelContext, next: (Request, ChannelContext) async throws -> Response
  ) async throws -> Response {
    let path = request.uri.path
    let method: HTTPRequest.Method? =
      Self.asking.contains(path) ? .get : Self.ordering.contains(path) ? .post : nil
    guard let method, request.method != method else { return try await next(request, context) }
    return Response(
      status: .methodNotAllowed, headers: [.allow: method.rawValue],
      body: .init(byteBuffer: ByteBuffer(string: "\(path) takes \(method.rawValue)\n")))
  }
}

/// Refuses other users: permission to connect does not imply permission to command.
private struct PeerCheck: RouterMiddleware {
  /// The kernel lets only root, the service's user and the socket's group connect (mode 0660).
  let mayGroupAsk: Bool

  func handle(
    _ request: Request, context: ChannelContext, next: (Request, ChannelContext) async throws -> Response
  ) async throws -> Response {
    let mayAsk = mayGroupAsk && request.method == .get
    // Without an answer of the kernel, the request is refused.
    guard let user = try? await context.channel.peerUser.get(), mayAsk || user == 0 || user == geteuid() else {
      throw HTTPError(.forbidden, message: "only root and the service's own user may do this")
    }
    return try await next(request, context)
  }
}
