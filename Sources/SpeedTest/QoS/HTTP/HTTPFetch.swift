import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A GET for HTTP proxy and website tests: no redirects, no cache, a separate connection. The certificate of the page must be valid.
struct HTTPFetch: Sendable {
  let url: String
  /// The value of `Range`.
  var range: String?
  /// ns for the connection.
  let connecting: Int64
  /// ns for all of it, the connection included.
  let whole: Int64

  /// Bytes of a body beyond which a fetch fails: 64 MiB.
  private static let largest: Int64 = 64 << 20

  /// Blocks until the page is there.
  /// - Parameters:
  ///   - waiting: The limits of the test, beside `whole`.
  ///   - traffic: Counts the bytes of head and body, without those that TLS adds.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for a URL that is not HTTP or HTTPS, ``SpeedTestError/timeout(_:)``,
  ///   ``SpeedTestError/unreachable(_:)`` for other failures. Every status of HTTP is a page.
  func run(_ waiting: Waiting, family: SpeedTestPlan.Family, traffic: TrafficCounter = TrafficCounter())
    throws(SpeedTestError) -> FetchedPage
  {
    let request = try request()
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton, configuration: try configuration(host: request.host, family))
    let page = Result { () throws(SpeedTestError) in try fetch(request, client, waiting, traffic) }
    try? client.syncShutdown()
    return try page.get()
  }

  private func request() throws(SpeedTestError) -> HTTPClient.Request {
    // The client knows more schemes, among them sockets of this host.
    guard ["http://", "https://"].contains(where: { url.lowercased().hasPrefix($0) }),
      var request = try? HTTPClient.Request(url: url)
    else { throw .protocolError("a URL that cannot be fetched") }
    request.headers.add(name: "Cache-Control", value: "no-cache")
    request.headers.add(name: "User-Agent", value: "coverage-probe")
    if let range { request.headers.add(name: "Range", value: range) }
    return request
  }

  private func configuration(host: String, _ family: SpeedTestPlan.Family) throws(SpeedTestError)
    -> HTTPClient.Configuration
  {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.timeout.connect = .nanoseconds(connecting)
    configuration.timeout.read = .nanoseconds(whole)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    // AsyncHTTPClient cannot choose a family: resolve the name here.
    if family != .any {
      let addresses = try Addresses(host: host, port: 0, family: family)
      if let numeric = addresses.list.first?.host { configuration.dnsOverride[host] = numeric }
    }
    return configuration
  }

  private func fetch(
    _ request: HTTPClient.Request, _ client: HTTPClient, _ waiting: Waiting, _ traffic: TrafficCounter
  ) throws(SpeedTestError) -> FetchedPage {
    let deadline = min(waiting.deadline, waiting.clock.now() + whole)
    let task = client.execute(request: request, delegate: PageReader(most: Self.largest, traffic))
    let done = Latch()
    task.futureResult.whenComplete { _ in done.open() }
    var isLate = false
    // In slices, so that an abort is seen.
    while !done.wait(nanoseconds: isLate ? 5_000_000_000 : 50_000_000), !isLate {
      isLate = waiting.clock.isAborted() || waiting.clock.now() >= deadline
      if isLate { task.cancel() }
    }
    if isLate { throw waiting.clock.isAborted() ? .aborted : .timeout("the page") }
    do {
      return try task.futureResult.wait()
    } catch let error as HTTPClientError where [.connectTimeout, .readTimeout, .deadlineExceeded].contains(error) {
      throw .timeout("the page")
    } catch {
      throw .unreachable("\(error)")
    }
  }
}
