import AsyncHTTPClient
import Coverage
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import OrderedJSON

/// Speaks with one control server over HTTPS or HTTP.
public struct ControlServerClient: Sendable {
  public let url: String
  let device: Device
  private let requestTimeout: Duration
  private let http: HTTPClient
  /// Closes each connection after its request.
  private let fresh: HTTPClient
  private let tls: TLSConfiguration?
  private let accepted = AcceptedCoding()
  private let serverDate = ServerDate()

  /// - Parameters:
  ///   - url: Without a slash at the end, e.g. `https://host/RMBTControlServer`.
  ///   - caFile: PEM certificates to trust instead of the system's.
  ///   - requestTimeout: Bound on a whole request, from the first look-up to the last byte of the answer.
  /// - Throws: ``CAFileError`` when the file holds no certificates.
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
    http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    fresh = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Ends all connections. To be called once, at the end.
  public func shutdown() async throws {
    try await http.shutdown()
    try await fresh.shutdown()
  }

  /// Registers this device, or confirms that it is registered.
  /// - Parameter clientUUID: What the server answered the first time; `nil` the first time.
  /// - Returns: The client UUID to use from now on.
  public func settings(clientUUID: String?) async throws(ServerFailure) -> String {
    let body = try await post(
      "settings", SettingsRequest(clientUUID: clientUUID, device: device).json, clientUUID: clientUUID)
    return try SettingsAnswer.clientUUID(body, known: clientUUID)
  }

  /// Asks for a test.
  ///
  /// The token for pings is made for the address that the request comes from: a connection that is left from before an address or
  /// a route changed would tell the old one, or wait for an answer that cannot come.
  /// - Parameters:
  ///   - isForPings: Takes the way that pings take now, with a connection of its own.
  ///   - interface: The request leaves by it, as the pings will; `nil`: by any.
  ///   - family: The request goes by that version of the internet protocol, as the pings will; `nil`: by either.
  public func requestCoverage(
    _ request: CoverageRequest, isForPings: Bool = false, by interface: String? = nil, family: AddressFamily? = nil
  ) async throws(ServerFailure) -> CoverageGrant {
    try CoverageGrant(
      try await post(
        "coverageRequest", text: request.json(device).text, clientUUID: request.clientUUID,
        by: interface != nil || family != nil ? .bound(interface, family) : isForPings ? .fresh : .kept))
  }

  /// The request that hands over `result`, ready to leave.
  public func prepare(_ result: CoverageResult) -> PreparedResult {
    PreparedResult(text: result.json(device).text, clientUUID: result.clientUUID)
  }

  /// Hands over a session's fences. When this returns, the server has them. When it throws, it may have them all the same:
  /// the answer can have been lost.
  public func submit(_ result: PreparedResult) async throws(ServerFailure) {
    _ = try await post("coverageResult", text: result.text, clientUUID: result.clientUUID, mayCompress: true)
  }

  /// - Parameter clientUUID: What the request names this device by: that is in no failure.
  func post(_ path: String, _ json: JSON, clientUUID: String?) async throws(ServerFailure) -> Data {
    try await post(path, text: json.text, clientUUID: clientUUID)
  }

  /// How a request leaves.
  private enum Way {
    /// By a connection that is kept for the next one.
    case kept
    /// By one of its own.
    case fresh
    /// By one of its own that leaves as the pings do.
    case bound(_ interface: String?, AddressFamily?)
  }

  /// - Parameter mayCompress: Whether the body is compressed where the server has said that it takes that.
  private func post(
    _ path: String, text: String, clientUUID: String?, mayCompress: Bool = false, by way: Way = .kept
  ) async throws(ServerFailure) -> Data {
    let sent = ContinuousClock.now
    let response = try await answer(to: path, text: text, mayCompress: mayCompress, by: way)
    let date = response.headers.first(name: "Date")
    let retryAfter = response.headers.first(name: "Retry-After").flatMap { RetryAfter.wait($0, date: date) }
    let answer = try Answer.body(
      status: response.status, retryAfter: retryAfter, body: response.body, clientUUID: clientUUID)
    serverDate.note(date, sent: sent)
    return answer
  }

  /// A body that was packed and refused is sent once more as it is: perhaps it is the packing.
  private func answer(
    to path: String, text: String, mayCompress: Bool, by way: Way
  ) async throws(ServerFailure) -> BoundRequest.Response {
    if mayCompress, accepted.isGzip, text.utf8.count >= Gzip.leastSize, let packed = Gzip.compressed(Array(text.utf8)) {
      let response = try await exchange(path, ByteBuffer(bytes: packed), isPacked: true, by: way)
      guard accepted.mayBlamePacking(for: response.status) else { return response }
      let plain = try await exchange(path, ByteBuffer(string: text), by: way)
      accepted.noteRefusal(packed: response.status, plain: plain.status)
      return plain
    }
    return try await exchange(path, ByteBuffer(string: text), by: way)
  }

  private func exchange(
    _ path: String, _ body: ByteBuffer, isPacked: Bool = false, by way: Way
  ) async throws(ServerFailure) -> BoundRequest.Response {
    var headers: HTTPHeaders = [
      "Content-Type": "application/json", "Accept": "application/json", "Accept-Language": device.language,
      "User-Agent": "coverage-probe/\(device.softwareVersion)",
    ]
    if isPacked { headers.add(name: "Content-Encoding", value: "gzip") }
    if case .fresh = way { headers.add(name: "Connection", value: "close") }
    let address = url + "/" + path
    let response: BoundRequest.Response
    do {
      switch way {
      case .kept: response = try await send(to: address, headers, body, with: http)
      case .fresh: response = try await send(to: address, headers, body, with: fresh)
      case .bound(let interface, let family):
        let request = BoundRequest(
          interface: interface, family: family, url: address, headers: headers, body: body, tls: tls)
        response = try await request.post(within: requestTimeout)
      }
    } catch {
      throw .noAnswer(from: url, error, within: requestTimeout, distrust: await distrust(error, by: way))
    }
    accepted.note(response.headers.first(name: "Accept-Encoding"), status: response.status)
    return response
  }

  /// The server's time by its last success; `nil` when there was none, or the server does not say.
  public var latestDate: ServerDateReading? { serverDate.latest }

  private func distrust(_ error: any Error, by way: Way) async -> String? {
    guard CertificateInquiry.concerns(error) else { return nil }
    let interface: String? = if case .bound(let name, _) = way { name } else { nil }
    return await CertificateInquiry(url: url, interface: interface, tls: tls).reason()
  }

  private func send(
    to address: String, _ headers: HTTPHeaders, _ body: ByteBuffer, with http: HTTPClient
  ) async throws -> BoundRequest.Response {
    var request = HTTPClientRequest(url: address)
    request.method = .POST
    request.headers = headers
    request.body = .bytes(body)
    let response = try await http.execute(request, timeout: .nanoseconds(requestTimeout.inNanoseconds))
    return BoundRequest.Response(
      status: Int(response.status.code), headers: response.headers,
      body: Data(buffer: try await response.body.collect(upTo: 4 << 20)))
  }
}

/// `control-server.ca-file` cannot be used.
public struct CAFileError: Error, CustomStringConvertible {
  public let path: String

  public var description: String { "control-server.ca-file: \(path) holds no PEM certificates that can be read" }
}
