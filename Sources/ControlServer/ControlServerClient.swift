import AsyncHTTPClient
import Coverage
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import OrderedJSON

/// Sends requests to one control server over HTTPS or HTTP. The value can be copied; copies share their connections.
public struct ControlServerClient: Sendable {
  /// The URL before the request's name, without a slash at the end.
  public let url: String
  let device: Device
  private let requestTimeout: Duration
  private let connections: ServerConnections
  private let tls: TLSConfiguration?
  private let accepted = AcceptedCoding()
  private let serverDate = ServerDate()

  /// - Parameters:
  ///   - url: Without a slash at the end, e.g. `https://host/RMBTControlServer`.
  ///   - caFile: The path of the PEM certificates to trust instead of the system's; `nil`: the system's.
  ///   - requestTimeout: The time limit of a whole request, from resolving the name to the last byte of the answer.
  ///   - device: Sent with every request.
  /// - Throws: ``CAFileError`` when the file cannot be read or holds no certificates.
  public init(url: String, caFile: String?, requestTimeout: Duration, device: Device) throws {
    self.url = url
    self.device = device
    self.requestTimeout = requestTimeout
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.timeout.connect = .nanoseconds(requestTimeout.inNanoseconds)
    configuration.timeout.read = .nanoseconds(requestTimeout.inNanoseconds)
    configuration.connectionPool.retryConnectionEstablishment = false
    if let caFile {
      var tls = TLSConfiguration.makeClientConfiguration()
      do {
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(caFile))
      } catch {
        throw CAFileError(path: caFile)
      }
      configuration.tlsConfiguration = tls
    }
    tls = configuration.tlsConfiguration
    connections = ServerConnections(configuration)
  }

  /// Closes all connections. Call it once; no request is possible afterwards.
  /// - Throws: An error of AsyncHTTPClient, e.g. for a second call.
  public func shutdown() async throws {
    try await connections.shutdown()
  }

  /// Registers this device (/settings), or confirms the registration.
  /// - Parameter clientUUID: The client UUID of the first registration; `nil` for the first registration.
  /// - Returns: The client UUID to use from now on.
  public func settings(clientUUID: String?) async throws(ServerFailure) -> String {
    let body = try await post(
      "settings", SettingsRequest(clientUUID: clientUUID, device: device).json, clientUUID: clientUUID)
    return try SettingsAnswer.clientUUID(body, known: clientUUID)
  }

  /// Requests a test (/coverageRequest).
  ///
  /// The server issues the ping token for the source address of the request. A connection from before a change of address or route would
  /// give the server the old address, or wait for an answer that cannot arrive.
  /// - Parameters:
  ///   - isForPings: Opens a new connection, so that the request leaves by the route that the pings take now.
  ///   - interface: The interface by which the request leaves, like the pings; `nil`: any.
  ///   - family: The version of the internet protocol, like the pings'; `nil`: either.
  public func requestCoverage(
    _ request: CoverageRequest, isForPings: Bool = false, by interface: String? = nil, family: AddressFamily? = nil
  ) async throws(ServerFailure) -> CoverageGrant {
    try CoverageGrant(
      try await post(
        "coverageRequest", text: request.json(device).text, clientUUID: request.clientUUID,
        by: interface != nil || family != nil ? .bound(interface, family) : isForPings ? .fresh : .kept))
  }

  /// The request that submits `result`, ready to send.
  public func prepare(_ result: CoverageResult) -> PreparedResult {
    PreparedResult(path: "coverageResult", text: result.json(device).text, clientUUID: result.clientUUID)
  }

  /// Submits a session's fences (/coverageResult) or a speed test. When this returns, the server has it. When it throws, the server may
  /// have it all the same, because the answer can be lost.
  public func submit(_ result: PreparedResult) async throws(ServerFailure) {
    _ = try await post(result.path, text: result.text, clientUUID: result.clientUUID, mayCompress: true)
  }

  /// - Parameter clientUUID: The client UUID in the request; it is redacted in failures.
  func post(_ path: String, _ json: JSON, clientUUID: String?) async throws(ServerFailure) -> Data {
    try await post(path, text: json.text, clientUUID: clientUUID)
  }

  /// The connection of a request.
  enum Way {
    /// A connection of the pool, open for the next request.
    case kept
    /// A new connection.
    case fresh
    /// A new connection by a given interface or version of the internet protocol.
    case bound(_ interface: String?, AddressFamily?)
  }

  /// - Parameter mayCompress: Whether to compress the body if the server accepts that.
  func post(
    _ path: String, text: String, clientUUID: String?, mayCompress: Bool = false, by way: Way = .kept
  ) async throws(ServerFailure) -> Data {
    let sent = ContinuousClock.now
    let response = try await answer(to: path, text: text, mayCompress: mayCompress, by: way)
    let date = response.headers.first(name: "Date")
    let retryAfter = response.headers.first(name: "Retry-After").flatMap { RetryAfter.wait($0, date: date) }
    let answer = try ServerAnswer.body(
      status: response.status, retryAfter: retryAfter, body: response.body, clientUUID: clientUUID)
    serverDate.note(date, sent: sent)
    return answer
  }

  /// Sends the body again uncompressed when the server may have refused the compression.
  private func answer(
    to path: String, text: String, mayCompress: Bool, by way: Way
  ) async throws(ServerFailure) -> BoundRequest.Response {
    if mayCompress, accepted.isGzip, text.utf8.count >= Gzip.leastSize,
      let compressed = Gzip.compressed(Array(text.utf8))
    {
      let response = try await exchange(path, ByteBuffer(bytes: compressed), isCompressed: true, by: way)
      guard accepted.mayRefuseCompression(for: response.status) else { return response }
      let plain = try await exchange(path, ByteBuffer(string: text), by: way)
      accepted.compare(compressed: response.status, plain: plain.status)
      return plain
    }
    return try await exchange(path, ByteBuffer(string: text), by: way)
  }

  private func exchange(
    _ path: String, _ body: ByteBuffer, isCompressed: Bool = false, by way: Way
  ) async throws(ServerFailure) -> BoundRequest.Response {
    var headers: HTTPHeaders = [
      "Content-Type": "application/json", "Accept": "application/json", "Accept-Language": device.language,
      "User-Agent": "coverage-probe/\(device.softwareVersion)",
    ]
    if isCompressed { headers.add(name: "Content-Encoding", value: "gzip") }
    if case .fresh = way { headers.add(name: "Connection", value: "close") }
    let address = url + "/" + path
    let response: BoundRequest.Response
    guard !Task.isCancelled else { throw .notSent(to: url) }
    let watched = RequestBody(body)
    do {
      switch way {
      case .kept: response = try await send(to: address, headers, watched, with: connections.pooled)
      case .fresh: response = try await send(to: address, headers, watched, with: connections.fresh)
      case .bound(let interface, let family):
        let request = BoundRequest(
          interface: interface, family: family, url: address, headers: headers, body: body, tls: tls)
        response = try await request.post(within: requestTimeout)
      }
    } catch {
      if case .bound = way {} else if Task.isCancelled, !watched.isTaken { throw .notSent(to: url) }
      throw .noAnswer(from: url, error, within: requestTimeout, distrust: await distrust(error, by: way))
    }
    accepted.apply(response.headers.first(name: "Accept-Encoding"), status: response.status)
    return response
  }

  /// The `Date` of the latest successful answer; `nil` before the first one that has a date.
  public var latestDate: ServerDateReading? { serverDate.latest }

  private func distrust(_ error: any Error, by way: Way) async -> String? {
    guard CertificateInquiry.concerns(error) else { return nil }
    let interface: String? = if case .bound(let name, _) = way { name } else { nil }
    return await CertificateInquiry(url: url, interface: interface, tls: tls).reason()
  }

  private func send(
    to address: String, _ headers: HTTPHeaders, _ body: RequestBody, with http: HTTPClient
  ) async throws -> BoundRequest.Response {
    var request = HTTPClientRequest(url: address)
    request.method = .POST
    request.headers = headers
    request.body = .stream(body, length: .known(Int64(body.length)))
    let response = try await http.execute(request, timeout: .nanoseconds(requestTimeout.inNanoseconds))
    return BoundRequest.Response(
      status: Int(response.status.code), headers: response.headers,
      body: Data(buffer: try await response.body.collect(upTo: 4 << 20)))
  }
}
