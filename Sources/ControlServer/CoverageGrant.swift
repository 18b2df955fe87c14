import Foundation

/// What the control server answers to a request for a test (spec 4.3).
public struct CoverageGrant: Hashable, Sendable {
  public let testUUID: String
  public let loopUUID: String?
  /// 16 bytes that prove to the ping server that this device may ping it (spec 3.2).
  public let pingToken: [UInt8]
  public let pingHost: String
  public let pingPort: UInt16
  /// 4 or 6: the family that the token was made for; `nil` when the server does not say.
  public let ipVersion: Int?
  /// The longest drive, and the longest session.
  public let maximumDrive: Duration?
  public let maximumSession: Duration?
  /// What is odd in the answer, and how it was understood; one line each.
  public let oddities: [String]

  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` when something is missing without which nobody can ping.
  init(_ body: Data) throws(ServerFailure) {
    let answer: Answer
    do {
      answer = try JSONDecoder().decode(Answer.self, from: body)
    } catch {
      throw .unusableAnswer("the answer to /coverageRequest has members of a wrong type")
    }
    guard let testUUID = answer.test_uuid, !testUUID.isEmpty else { throw .unusableAnswer("no test_uuid") }
    guard let token = answer.ping_token.flatMap({ Data(base64Encoded: $0) }), token.count == 16 else {
      throw .unusableAnswer("ping_token is not Base64 of 16 bytes")
    }
    guard let host = answer.ping_host, !host.isEmpty else { throw .unusableAnswer("no ping_host") }
    guard let port = answer.ping_port?.number.flatMap(UInt16.init(exactly:)), port > 0 else {
      throw .unusableAnswer("ping_port is no port")
    }
    self.testUUID = testUUID
    loopUUID = answer.loop_uuid.flatMap { $0.isEmpty ? nil : $0 }
    pingToken = [UInt8](token)
    pingHost = host
    pingPort = port
    ipVersion = answer.ip_version?.number.flatMap { [4, 6].contains($0) ? Int($0) : nil }
    var oddities: [String] = []
    maximumDrive = Self.limit(
      "max_coverage_session_seconds", answer.max_coverage_session_seconds ?? answer.maxCoverageSessionSeconds,
      &oddities)
    maximumSession = Self.limit(
      "max_coverage_measurement_seconds", answer.max_coverage_measurement_seconds, &oddities)
    self.oddities = oddities
  }

  /// A server without settings answers with milliseconds in place of seconds (spec 4.3).
  private static func limit(_ name: String, _ value: NumberOrText?, _ oddities: inout [String]) -> Duration? {
    guard let value else { return nil }
    switch value.number {
    case .some(let seconds) where (1..<1_000_000).contains(seconds): return .seconds(seconds)
    case .some(let milliseconds) where (1_000_000..<1 << 40).contains(milliseconds):
      oddities.append("the control server's \(name) is \(milliseconds): taken for milliseconds")
      return .milliseconds(milliseconds)
    default:
      oddities.append("the control server's \(name) is no limit: ignored")
      return nil
    }
  }

  private struct Answer: Decodable {
    let test_uuid: String?
    let loop_uuid: String?
    let ping_token: String?
    let ping_host: String?
    let ping_port: NumberOrText?
    let ip_version: NumberOrText?
    let max_coverage_session_seconds: NumberOrText?
    let maxCoverageSessionSeconds: NumberOrText?
    let max_coverage_measurement_seconds: NumberOrText?
  }
}

/// A number that some servers send as text.
struct NumberOrText: Decodable {
  let number: Int64?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    number = (try? value.decode(Int64.self)) ?? (try? value.decode(String.self)).flatMap { Int64($0) }
  }
}
