import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Answers requests: selects the endpoint, applies the planned fault, and logs the request.
struct Responder: HTTPResponder {
  static let bodyLimit = 16 << 20

  let endpoints: Endpoints
  let backstage: Backstage
  let scheme: String

  /// How the answer is sent.
  private enum Delivery {
    case answer(Answer)
    case late(Answer, seconds: Double)
    case close
    case reset
    case hang(seconds: Double)
  }

  func respond(to request: Request, context: ConnectionContext) async throws -> Response {
    var response = try await answer(to: request, context: context)
    if endpoints.options.acceptsGzip { response.headers[.acceptEncoding] = "gzip" }
    return Self.asksForUpgrade(request.headers) ? Self.last(response, on: context.channel) : response
  }

  /// Whether a request asks for another protocol, as those of curl's `--http2` and of Java's client do.
  private static func asksForUpgrade(_ headers: HTTPFields) -> Bool {
    headers[values: .connection].contains { value in
      value.split { $0 == "," || $0 == " " }.contains { $0.lowercased() == "upgrade" }
    }
  }

  /// The last response of its connection. After a request for another protocol, the HTTP parser reads no further one.
  private static func last(_ response: Response, on channel: any Channel) -> Response {
    var last = response
    last.headers[.connection] = "close"
    last.body = ResponseBody(contentLength: response.body.contentLength) { writer in
      try await response.body.write(writer)
      try? await channel.close(mode: .output)
    }
    return last
  }

  private func answer(to request: Request, context: ConnectionContext) async throws -> Response {
    let path = request.uri.path
    let method = request.method.rawValue
    let encoding = request.headers[.contentEncoding]
    let body: [UInt8]
    do {
      let received = Array(try await request.body.collect(upTo: Self.bodyLimit).readableBytesView)
      let isCompressed = endpoints.options.acceptsGzip && encoding == "gzip"
      body = isCompressed ? try Inflation.inflated(received, limit: Self.bodyLimit) : received
    } catch is NIOTooManyBytesError {
      return Self.response(.error("the body is larger than \(Self.bodyLimit) bytes", status: 413))
    } catch let refusal as Refusal {
      return Self.response(Self.answer(to: refusal).0)
    }
    guard let name = Endpoints.name(method: method, path: path) else {
      return try await answerBackstage(method: method, path: path, body: body)
    }
    let fault = await backstage.faults.next(for: name)
    var entry = RequestEntry(method: method, path: name, peer: nil, body: String(decoding: body, as: UTF8.self))
    if fault != .none { entry.fault = fault.text }
    (entry.encoding, entry.port) = (encoding, context.channel.remoteAddress?.port)
    let delivery = try await process(
      name, path: path, body: body, request: request, context: context, fault: fault, entry: &entry)
    // Log before sending, so that a test sees a request that hangs.
    try await endpoints.store.log(entry)
    return try await deliver(delivery, on: context.channel)
  }

  private func answerBackstage(method: String, path: String, body: [UInt8]) async throws -> Response {
    do {
      guard let answer = try await backstage.answer(method: method, path: path, body: body) else {
        return Self.response(.error("no such endpoint: \(method) \(path)", status: 404))
      }
      return Self.response(answer)
    } catch let refusal as Refusal {
      return Self.response(Self.answer(to: refusal).0)
    }
  }

  private func process(
    _ name: String, path: String, body: [UInt8], request: Request, context: ConnectionContext, fault: Fault,
    entry: inout RequestEntry
  ) async throws -> Delivery {
    func carriedOut() async throws -> Answer {
      do {
        let peer = try peer(of: request, channel: context.channel)
        entry.peer = peer.text
        let base = "\(scheme)://\(request.head.authority ?? "localhost")"
        return try await endpoints.carryOut(name, path: path, Call(peer: peer, body: body, base: base))
      } catch let refusal as Refusal {
        let (answer, reason) = Self.answer(to: refusal)
        entry.reason = reason
        return answer
      } catch {
        entry.reason = "\(error)"
        return .error("SQL Error requesting from database.", status: 500)
      }
    }
    func answered(_ answer: Answer) -> Delivery {
      entry.status = answer.status
      return .answer(answer)
    }
    switch fault {
    case .none: return answered(try await carriedOut())
    case .status(let status): return answered(.error("fault on request: \(status)", status: status))
    case .retryAfter(let status, let value):
      var answer = Answer.error("fault on request: \(status)", status: status)
      answer.retryAfter = value
      return answered(answer)
    case .redirect(let place):
      var answer = Answer(status: 302, contentType: "text/html", body: "<a href=\"\(place)\">here</a>\n")
      answer.location = place
      return answered(answer)
    case .empty: return answered(.empty)
    case .html:
      let page = "<html><body><h1>Something went wrong</h1></body></html>\n"
      return answered(Answer(status: 200, contentType: "text/html;charset=UTF-8", body: page))
    case .error: return answered(.error("fault on request: error", status: 200))
    case .reset: return .reset
    case .hang(let seconds): return .hang(seconds: seconds)
    case .dropAnswer:
      let answer = try await carriedOut()
      entry.reason = ["not sent: \(answer.status)", entry.reason].compactMap { $0 }.joined(separator: ", ")
      return .close
    case .stored(let status):
      _ = try await carriedOut()
      return answered(.error("fault on request: \(status)", status: status))
    case .slow(let seconds):
      let answer = try await carriedOut()
      entry.status = answer.status
      return .late(answer, seconds: seconds)
    case .late(let seconds):
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(seconds)) }
      return answered(try await carriedOut())
    case .emptyIf(let text):
      return answered(entry.body.contains(text) ? .empty : try await carriedOut())
    }
  }

  private func deliver(_ delivery: Delivery, on channel: any Channel) async throws -> Response {
    switch delivery {
    case .answer(let answer): return Self.response(answer)
    case .late(let answer, let seconds):
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(seconds)) }
      return Self.response(answer)
    case .hang(let seconds):
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(seconds)) }
    case .reset:
      // With a linger time of zero, close() sends a reset.
      try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      try await Self.closeBelowTLS(channel)
    case .close: break
    }
    try? await channel.close()
    // The connection is closed, so this response is not sent.
    return Self.response(.empty)
  }

  /// Closes the connection without TLS's closure alert, which would reach the client before the reset.
  private static func closeBelowTLS(_ channel: any Channel) async throws {
    try await channel.eventLoop.submit {
      // A close from the handler's own context bypasses the handler.
      try? channel.pipeline.syncOperations.context(handlerType: TLSHandler.self).close(promise: nil)
    }.get()
  }

  /// The client's address: the header of a proxy if it is trusted, otherwise the socket's peer.
  private func peer(of request: Request, channel: any Channel) throws -> PeerAddress {
    if endpoints.options.trustRealIP,
      let text = request.headers.first(where: { $0.name.canonicalName == "x-real-ip" })?.value
    {
      guard let peer = PeerAddress(text) else { throw Refusal.badRequest("'\(text)' is not an IP string literal.") }
      return peer
    }
    guard let text = channel.remoteAddress?.ipAddress, let peer = PeerAddress(text) else {
      throw Refusal.swallowed("the peer has no address")
    }
    return peer
  }

  /// The answer to a refusal, and the reason for the log.
  private static func answer(to refusal: Refusal) -> (Answer, String) {
    switch refusal {
    case .badRequest(let text): (.error(text, status: 400), text)
    case .listed(let text): (.error(text, status: 200), text)
    case .notFound(let text): (.error(text, status: 404), text)
    case .swallowed(let text): (.empty, "swallowed: \(text)")
    }
  }

  private static func response(_ answer: Answer) -> Response {
    var headers = HTTPFields()
    headers[.contentType] = answer.contentType
    headers[.retryAfter] = answer.retryAfter
    headers[.location] = answer.location
    return Response(
      status: .init(code: answer.status), headers: headers,
      body: answer.body.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(string: answer.body)))
  }
}
