import Coverage
import Foundation
import Networking
import OrderedJSON
import Synchronization

/// Sends requests to one control server over HTTPS or HTTP. The value can be copied; copies share their connections.
public struct ControlServerClient: Sendable {
  /// The URL before the request's name, without a slash at the end.
  public let url: String
  let device: Device
  private let requestTimeout: Duration
  private let fetcher = Fetcher()
  /// PEM certificates; `nil`: the system's.
  private let authorities: Data?
  private let accepted = AcceptedCoding()
  private let serverDate = ServerDate()

  /// - Parameters:
  ///   - caFile: The path of the PEM certificates to trust instead of the system's; `nil`: the system's.
  ///   - requestTimeout: The time limit of a whole request, from resolving the name to the last byte of the answer.
  /// - Throws: ``CAFileError`` when the file cannot be read or holds no certificates.
  public init(url: String, caFile: String?, requestTimeout: Duration, device: Device) throws {
    (self.url, self.device, self.requestTimeout) = (url, device, requestTimeout)
    authorities = try caFile.map { path throws(CAFileError) in
      guard let file = FileManager.default.contents(atPath: path),
        file.range(of: Data("-----BEGIN CERTIFICATE-----".utf8)) != nil
      else { throw CAFileError(path: path) }
      return file
    }
  }

  /// Stands for the control server of a device that has none: every request fails.
  public static func absent(_ device: Device) -> ControlServerClient { ControlServerClient(device) }

  private init(_ device: Device) {
    (url, self.device, requestTimeout, authorities) = ("", device, .seconds(1), nil)
  }

  var isPresent: Bool { !url.isEmpty }

  /// Registers this device (/settings), or confirms the registration.
  /// - Parameter clientUUID: The client UUID of the first registration; `nil` for the first registration.
  /// - Returns: The client UUID to use from now on.
  public func settings(clientUUID: String?, by connection: FetchRequest.Connection = .kept) async throws(ServerFailure)
    -> String
  {
    let request = SettingsRequest(clientUUID: clientUUID, device: device)
    let body = try await post("settings", text: request.json.text, clientUUID: clientUUID, by: connection)
    return try SettingsAnswer.clientUUID(body, known: clientUUID)
  }

  /// Requests a test (/coverageRequest).
  ///
  /// The server issues the ping token for the source address of the request. A connection from before a change of address or route would
  /// give the server the old address, or wait for an answer that cannot arrive: so a test for pings needs a fresh one.
  public func requestCoverage(
    _ request: CoverageRequest, by connection: FetchRequest.Connection = .kept
  ) async throws(ServerFailure) -> CoverageGrant {
    try CoverageGrant(
      try await post("coverageRequest", text: request.json(device).text, clientUUID: request.clientUUID, by: connection)
    )
  }

  /// Submits a session's fences (/coverageResult) or a speed test. When this returns, the server has it. When it throws, the server may
  /// have it all the same, because the answer can be lost.
  func submit(_ result: PreparedResult) async throws(ServerFailure) {
    _ = try await post(result.path, text: result.text, clientUUID: result.clientUUID, mayCompress: true)
  }

  /// - Parameter clientUUID: The client UUID in the request; it is redacted in failures.
  func post(_ path: String, _ json: JSON, clientUUID: String?) async throws(ServerFailure) -> Data {
    try await post(path, text: json.text, clientUUID: clientUUID)
  }

  /// - Parameter mayCompress: Whether to compress the body if the server accepts that.
  func post(
    _ path: String, text: String, clientUUID: String?, mayCompress: Bool = false,
    by connection: FetchRequest.Connection = .kept
  ) async throws(ServerFailure) -> Data {
    let sent = ContinuousClock.now
    let response = try await answer(
      to: path, text: text, mayCompress: mayCompress, by: connection, until: sent + requestTimeout)
    let date = response.header("Date")
    let retryAfter = response.header("Retry-After").flatMap { RetryAfter.wait($0, date: date) }
    let answer = try ServerAnswer.body(
      status: response.status, retryAfter: retryAfter, body: response.body, isCutOff: response.isCutOff,
      clientUUID: clientUUID)
    serverDate.note(date, sent: sent)
    return answer
  }

  /// Sends the body again uncompressed when the server may have refused the compression.
  private func answer(
    to path: String, text: String, mayCompress: Bool, by connection: FetchRequest.Connection,
    until deadline: ContinuousClock.Instant
  ) async throws(ServerFailure) -> FetchAnswer {
    let plainBody = Array(text.utf8)
    if mayCompress, accepted.isGzip, plainBody.count >= Gzip.leastSize, let compressed = Gzip.compressed(plainBody) {
      let response = try await exchange(path, compressed, isCompressed: true, by: connection, until: deadline)
      guard accepted.mayRefuseCompression(for: response.status) else { return response }
      let plain = try await exchange(path, plainBody, by: connection, until: deadline)
      accepted.compare(compressed: response.status, plain: plain.status)
      return plain
    }
    return try await exchange(path, plainBody, by: connection, until: deadline)
  }

  private func exchange(
    _ path: String, _ body: [UInt8], isCompressed: Bool = false, by connection: FetchRequest.Connection,
    until deadline: ContinuousClock.Instant
  ) async throws(ServerFailure) -> FetchAnswer {
    // The configuration says so, not the network: no dead zone comes from it.
    guard isPresent else { throw .unreachable("(control-server.url is not set)", mayHaveNetwork: true) }
    var request = FetchRequest(url: url + "/" + path, limit: deadline - .now)
    (request.body, request.connection) = (body, connection)
    request.headers = [
      "Content-Type": "application/json", "Accept": "application/json", "Accept-Language": device.language,
      "User-Agent": "coverage-probe/\(device.softwareVersion)",
    ]
    if isCompressed { request.headers["Content-Encoding"] = "gzip" }
    request.authorities = authorities
    // Shorter than the silence that begins a dead zone: a look-up leaves by any link, and says nothing about this one.
    request.lookUpLimit = request.interface.map { _ in min(.seconds(3), requestTimeout / 2) }
    do {
      let response = try await fetcher.fetch(request)
      accepted.apply(response.header("Accept-Encoding"), status: response.status)
      return response
    } catch {
      let distrust = error.cause == .untrusted ? await distrust(of: request, until: deadline) : nil
      throw ServerFailure(
        error, url: url, version: request.ipVersion, isBound: request.interface != nil, within: requestTimeout,
        distrust: distrust)
    }
  }

  /// Why the server's certificate is not trusted: this connects once more to look at it.
  private func distrust(of request: FetchRequest, until deadline: ContinuousClock.Instant) async -> String? {
    var inspection = request
    (inspection.body, inspection.isInspection) = (nil, true)
    if inspection.connection == .kept { inspection.connection = .fresh() }
    inspection.limit = min(.seconds(5), deadline - .now)
    // Without an answer, the failure is reported without the reason.
    guard let answer = try? await fetcher.fetch(inspection) else { return nil }
    return Distrust.reason(answer.certificates)
  }

  /// The `Date` of the latest successful answer; `nil` before the first one that has a date.
  public var latestDate: ServerDateReading? { serverDate.latest }
}

/// The file of `control-server.ca-file` cannot be read, or holds no PEM certificate.
struct CAFileError: Error, CustomStringConvertible {
  /// The path as it is in the configuration.
  let path: String

  var description: String { "control-server.ca-file: \(path) holds no PEM certificates that can be read" }
}

/// The request that registers the device or confirms its registration (docs/protocol.md, 3.3).
struct SettingsRequest {
  /// `nil` for the first registration.
  let clientUUID: String?
  let device: Device

  var json: JSON {
    .object(
      JSON.members([
        "uuid": .string(clientUUID ?? ""),
        "terms_and_conditions_accepted": true,
        "terms_and_conditions_accepted_version": 6,
      ]) + device.members)
  }
}

/// The control server's answer to a registration (docs/protocol.md, 3.3).
struct SettingsAnswer: Decodable {
  struct Settings: Decodable {
    let uuid: String?
  }

  let settings: [Settings]?

  /// The client UUID to use from now on; `known` when the answer has none.
  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` when there is neither.
  static func clientUUID(_ body: Data, known: String?) throws(ServerFailure) -> String {
    let answer = try? JSONDecoder().decode(SettingsAnswer.self, from: body)
    if let uuid = answer?.settings?.first?.uuid ?? known, !uuid.isEmpty { return uuid }
    throw .unusableAnswer("no client uuid in the answer to /settings")
  }
}

/// The `Date` of the server's latest successful answer.
final class ServerDate: Sendable {
  private let reading = Mutex<ServerDateReading?>(nil)

  /// - Parameters:
  ///   - date: The `Date` of a successful answer: that of a captive portal is not the server's.
  ///   - sent: When the request started.
  func note(_ date: String?, sent: ContinuousClock.Instant) {
    guard let time = date.flatMap(HTTPDate.time) else { return }
    let now = ContinuousClock.now
    reading.withLock { $0 = ServerDateReading(date: time, received: now, roundTrip: now - sent) }
  }

  var latest: ServerDateReading? { reading.withLock { $0 } }
}

/// Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
  /// - Parameter date: The `Date` of the same response. A date is compared with it, because the clocks of server and host can differ.
  /// - Returns: The wait from the response on; `nil` for zero or a past date, for other text, and for a date in a response without a `Date`.
  static func wait(_ text: String, date: String?) -> Duration? {
    requested(text.trimming(), date).flatMap { $0 > .zero ? min($0, ServerFailure.longestWait) : nil }
  }

  private static func requested(_ text: String, _ date: String?) -> Duration? {
    if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
      return Int64(text).map { .seconds(min($0, 1 << 40)) } ?? ServerFailure.longestWait
    }
    guard let until = HTTPDate.time(text), let now = date.flatMap(HTTPDate.time) else { return nil }
    return until - now
  }
}
