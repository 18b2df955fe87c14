import Coverage
import Foundation

/// The control server's answer to a request for a test (docs/protocol.md, 3.4).
public struct CoverageGrant: Hashable, Sendable {
  /// The identifier of the test.
  public let testUUID: String
  /// The identifier of the loop, for the request that continues the drive; `nil` when the server gives none.
  public let loopUUID: String?
  /// 16 bytes that authorise this device at the ping server (docs/protocol.md, 1.2).
  public let pingToken: [UInt8]
  /// The name or address of the ping server.
  public let pingHost: String
  /// The UDP port of the ping server, 1 to 65535.
  public let pingPort: UInt16
  /// The version of the internet protocol for which the token was issued; `nil` when the server gives none.
  public let ipVersion: IPVersion?
  /// The longest duration of the whole drive; `nil`: no limit.
  public let maximumDrive: Duration?
  /// The longest duration of one session; `nil`: no limit.
  public let maximumSession: Duration?
  /// The oddities of the answer and how they were understood, a line each.
  public let oddities: [String]

  /// Reads the body of an answer.
  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` when the test's UUID or a value that pings need is missing or wrong.
  init(_ body: Data) throws(ServerFailure) {
    let answer: Answer
    do {
      answer = try JSONDecoder().decode(Answer.self, from: body)
    } catch {
      throw .unusableAnswer("the answer to /coverageRequest has members of a wrong type")
    }
    guard let testUUID = answer.test_uuid, !testUUID.isEmpty else { throw .unusableAnswer("no test_uuid") }
    guard ForeignText.clean(testUUID) == testUUID else { throw .unusableAnswer("test_uuid is no UUID") }
    guard let token = answer.ping_token.flatMap({ Data(base64Encoded: $0) }), token.count == 16 else {
      throw .unusableAnswer("ping_token is not Base64 of 16 bytes")
    }
    guard let host = answer.ping_host, !host.isEmpty else { throw .unusableAnswer("no ping_host") }
    guard ForeignText.clean(host, limit: 253) == host else { throw .unusableAnswer("ping_host is no host") }
    guard let port = answer.ping_port?.number.flatMap(UInt16.init(exactly:)), port > 0 else {
      throw .unusableAnswer("ping_port is no port")
    }
    self.testUUID = testUUID
    loopUUID = answer.loop_uuid?.text.flatMap { $0.isEmpty ? nil : $0 }
    pingToken = [UInt8](token)
    pingHost = host
    pingPort = port
    ipVersion = answer.ip_version?.number.flatMap(Int.init(exactly:)).flatMap(IPVersion.init)
    var oddities: [String] = []
    if let loop = answer.loop_uuid, loop.text == nil {
      oddities.append("the control server's loop_uuid is no text: ignored")
    }
    maximumDrive = Self.limit(
      "max_coverage_session_seconds", answer.max_coverage_session_seconds ?? answer.maxCoverageSessionSeconds,
      &oddities)
    maximumSession = Self.limit(
      "max_coverage_measurement_seconds", answer.max_coverage_measurement_seconds, &oddities)
    self.oddities = oddities
  }

  /// A limit of the answer. A server without this setting answers in milliseconds instead of seconds (docs/protocol.md,
  /// 3.4).
  private static func limit(_ name: String, _ value: NumberOrText?, _ oddities: inout [String]) -> Duration? {
    guard let value else { return nil }
    switch value.number {
    case .some(let seconds) where (1..<1_000_000).contains(seconds): return .seconds(seconds)
    case .some(let milliseconds) where (1_000_000..<1 << 40).contains(milliseconds):
      oddities.append("the control server's \(name) is \(milliseconds): read as milliseconds")
      return .milliseconds(milliseconds)
    default:
      oddities.append("the control server's \(name) is no limit: ignored")
      return nil
    }
  }

  private struct Answer: Decodable {
    let test_uuid: String?
    let loop_uuid: TextOrOther?
    let ping_token: String?
    let ping_host: String?
    let ping_port: NumberOrText?
    let ip_version: NumberOrText?
    let max_coverage_session_seconds: NumberOrText?
    let maxCoverageSessionSeconds: NumberOrText?
    let max_coverage_measurement_seconds: NumberOrText?
  }
}
