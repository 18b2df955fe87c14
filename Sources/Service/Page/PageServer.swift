import Coverage
import Export
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Networking
import Settings
import Store
import Submission
import Synchronization

/// Serves the live page (docs/live-page.md): HTTP on one address, for browsers that have the token.
///
///     GET  /               the page; with ?token=T the cookie, once
///     GET  /events         server-sent events: fences as they end, the state each second; with ?after=ID as with Last-Event-ID
///     GET  /tiles/ZOOM/COLUMN/ROW   a tile of the base map
///     POST /start /stop /pause /resume /submit
struct PageServer: Sendable {
  let address: HostPort
  let directory: String
  let service: any ServiceCommands
  let store: DriveStore
  let logger: Logger
  var options = MapOptions()
  /// A follower whose connection accepts no bytes for this long is disconnected.
  var patience = Duration.seconds(30)
  /// The time for a request, and between two of a connection.
  var headLimit = ServerConnections.headLimit

  /// Followers at a time. Each one reads the store once a second.
  static let mostFollowers = 8
  /// Enough for some browsers, which open up to six each.
  static let mostConnections = 32
  /// Of one address, without those that have shown the token.
  static let mostConnectionsOfStranger = 8

  /// The last logged reason why the base map cannot be read. A page asks for many tiles, and each reason is logged once.
  private let groundTrouble = Trouble()

  private final class Trouble: Sendable {
    private let last = Mutex<String?>(nil)

    /// Whether a line is another one than the last.
    func isNew(_ line: String?) -> Bool {
      last.withLock { last in
        defer { last = line }
        return last != line
      }
    }
  }

  private static let cookie = "coverage-probe-page"
  /// The header of the page's own requests; a form of another site cannot set it.
  private static let command = HTTPField.Name("X-Coverage-Probe")
  /// Sent by a browser that connects again (HTML, 9.2): the id of the last ``PageEvent`` that it has.
  private static let lastEvent = HTTPField.Name("Last-Event-ID")

  /// The page with a base map. A file that cannot be read costs the ground only: no drive waits for it.
  static func options(basemap path: String?, _ logger: Logger) -> MapOptions {
    do {
      return MapOptions(basemap: try path.map(Basemap.init(path:)))
    } catch {
      logger.error("\(error); the live page has no ground")
      return MapOptions()
    }
  }

  /// Serves until the task is cancelled. Retries every 10 s while the host lacks the address: the drive must not wait for the
  /// page.
  func run() async {
    var trouble: String?
    while !Task.isCancelled {
      do {
        if PageToken(directory: directory) == nil { _ = try PageToken(renewedIn: directory) }
        try await serve(PageGuard())
        return
      } catch {
        if Task.isCancelled { return }
        let line = "no live page at \(address): \(Self.reason(error))"
        if line != trouble { logger.error("\(line); trying again every 10 s") }
        trouble = line
        try? await Task.sleep(for: .seconds(10))
      }
    }
  }

  /// Serves until the task is cancelled. Then no connection is accepted any more, and those under way get a moment before the
  /// server ends.
  /// - Throws: When the host lacks the address, or the port is taken.
  private func serve(_ rules: PageGuard) async throws {
    let connections = ServerConnections(
      .addresses, most: Self.mostConnections, mostOfPeer: Self.mostConnectionsOfStranger)
    var quiet = logger
    quiet.logLevel = .critical
    let application = Application(
      router: router(rules, connections), server: connections.server(headLimit: headLimit),
      configuration: .init(
        address: .hostname(address.host, port: Int(address.port)), serverName: nil,
        availableConnectionsDelegate: connections),
      onServerRunning: { _ in
        logger.info("live page at \(address): `\(Program.name) page` prints the link")
      }, logger: quiet)
    try await ServerConnections.run(application) { connections.close() }
  }

  private static func reason(_ error: any Error) -> String {
    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }

  // MARK: Routes

  private func router(_ rules: PageGuard, _ connections: ServerConnections) -> Router<ChannelContext> {
    let router = Router(context: ChannelContext.self)
    /// Checks a request; a connection whose request is answered keeps its place.
    @Sendable func check(_ asked: PageGuard.Asked, _ context: ChannelContext) -> PageGuard.Verdict {
      let verdict = rules.check(asked, by: PageToken(directory: directory))
      if case .refuse = verdict {} else { connections.trust(context.channel) }
      return verdict
    }
    let followers = PageFollowers(most: Self.mostFollowers)
    router.get("/") { request, context in
      switch check(Self.asked(request, isCommand: false), context) {
      case .refuse(let reason): return Self.text(reason, status: .forbidden)
      case .admit(let token): return Self.admission(token)
      case .answer: return page()
      }
    }
    router.get("events") { request, context in
      if case .refuse(let reason) = check(Self.asked(request, isCommand: false, link: false), context) {
        return Self.text(reason, status: .forbidden)
      }
      // A script that connects again cannot set the header.
      let last = Self.lastEvent.flatMap { request.headers[$0] } ?? request.uri.queryParameters["after"].map(String.init)
      return events(after: last.flatMap { Int64($0) }, followers, context.channel)
    }
    router.get("tiles/:zoom/:column/:row") { request, context in
      if case .refuse(let reason) = check(Self.asked(request, isCommand: false, link: false), context) {
        return Self.text(reason, status: .forbidden)
      }
      return await tile(context)
    }
    for command in ServiceCommand.allCases {
      router.post(RouterPath(command.rawValue)) { request, context in
        await obey(check(Self.asked(request, isCommand: true), context)) { await service.perform(command) }
      }
    }
    router.post("submit") { request, context in
      await obey(check(Self.asked(request, isCommand: true), context)) {
        await service.submit(.cold, .commanded).line
      }
    }
    return router
  }

  /// - Parameter link: Whether a token in the address counts; not for the stream, which the cookie alone opens.
  private static func asked(_ request: Request, isCommand: Bool, link: Bool = true) -> PageGuard.Asked {
    PageGuard.Asked(
      isCommand: isCommand, host: request.head.authority, origin: request.headers[.origin],
      isMarked: command.map { request.headers[$0] != nil } ?? false, cookie: request.cookies[cookie]?.value,
      link: link ? request.uri.queryParameters["token"].map(String.init) : nil)
  }

  /// Performs a command if the rules permit it, and answers with its line.
  private func obey(_ verdict: PageGuard.Verdict, _ perform: () async -> String) async -> Response {
    if case .refuse(let reason) = verdict { return Self.text(reason, status: .forbidden) }
    return Self.text(await perform())
  }

  // MARK: Answers

  /// The page, or status 503 with the reason, such as a missing map library.
  private func page() -> Response {
    do {
      let page = try LivePage(options: options)
      var headers = Self.headers
      headers[.contentType] = "text/html; charset=utf-8"
      headers[.contentSecurityPolicy] = page.contentSecurityPolicy
      return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: page.html)))
    } catch {
      return Self.text("\(error)", status: .serviceUnavailable)
    }
  }

  /// A tile of the base map; status 204 where there is none: the page then asks for the one above. Reads on a thread of its own, because a disk can be slow.
  private func tile(_ context: ChannelContext) async -> Response {
    let numbers = ["zoom", "column", "row"].compactMap { context.parameters.get($0, as: Int.self) }
    guard let basemap = options.basemap, numbers.count == 3, let bytes = await tile(numbers, of: basemap) else {
      return Response(status: .noContent, headers: Self.headers)
    }
    var headers = Self.headers
    headers[.contentType] = "application/octet-stream"
    return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// `nil` also for a file that cannot be read, which costs the ground only.
  private func tile(_ numbers: [Int], of basemap: Basemap) async -> [UInt8]? {
    do {
      let bytes = try await NIOThreadPool.singleton.runIfActive {
        try basemap.tile(zoom: numbers[0], column: numbers[1], row: numbers[2])
      }
      if bytes != nil { _ = groundTrouble.isNew(nil) }
      return bytes
    } catch {
      if groundTrouble.isNew("\(error)") { logger.error("\(error); the live page lacks tiles") }
      return nil
    }
  }

  /// Sets the cookie, and leads to the page from here: browsers keep a strict cookie back when another page's link leads on.
  private static func admission(_ token: PageToken) -> Response {
    var headers = headers
    headers[.contentType] = "text/html; charset=utf-8"
    headers[.setCookie] = "\(cookie)=\(token.text); Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000"
    headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
    let html = """
      <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">
      <title>Coverage map</title></head><body><p><a href="/">The live page</a></p></body></html>

      """
    return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html)))
  }

  /// The stream for one follower; status 503 when all places are taken.
  /// - Parameters:
  ///   - last: The id of the last event that the browser has; `nil` for a new one.
  ///   - channel: Closed when the follower accepts no bytes for ``patience``: the write that hangs then fails.
  private func events(after last: Int64?, _ followers: PageFollowers, _ channel: any Channel) -> Response {
    guard let place = followers.place() else {
      return Self.text("\(Self.mostFollowers) pages follow already", status: .serviceUnavailable)
    }
    var headers = Self.headers
    headers[.contentType] = "text/event-stream"
    let (stream, watch) = (PageStream(service: service, store: store), WriteWatch(patience: patience))
    let body = ResponseBody { writer in
      let watching = Task {
        await watch.wait()
        if !Task.isCancelled { channel.close(promise: nil) }
      }
      defer { watching.cancel() }
      // Until here the follower has its place.
      defer { withExtendedLifetime(place) {} }
      try await stream.run(after: last) { bytes in
        try await watch.writing { try await writer.write(ByteBuffer(bytes: bytes)) }
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: headers, body: body)
  }

  private static func text(_ line: String, status: HTTPResponse.Status = .ok) -> Response {
    var headers = headers
    headers[.contentType] = "text/plain; charset=utf-8"
    return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: line + "\n")))
  }

  /// The page shows positions: no cache may have it.
  private static let headers: HTTPFields = [
    .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
  ]
}

/// Notices a follower that accepts no bytes, so that its connection can be closed: a phone out of reach would otherwise occupy
/// its place for hours.
final class WriteWatch: Sendable {
  /// When the present write began; `nil` between writes.
  private let began = Mutex<ContinuousClock.Instant?>(nil)
  private let patience: Duration

  init(patience: Duration) { self.patience = patience }

  /// Runs a write that waits for the follower.
  func writing(_ write: () async throws -> Void) async throws {
    began.withLock { $0 = .now }
    defer { began.withLock { $0 = nil } }
    try await write()
  }

  /// Returns when a write has taken longer than the patience, or when the task is cancelled.
  func wait() async {
    while !Task.isCancelled, !isStuck { try? await Task.sleep(for: min(patience, .seconds(1))) }
  }

  private var isStuck: Bool { began.withLock { $0.map { .now - $0 > patience } ?? false } }
}
