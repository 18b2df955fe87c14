import Coverage
import Foundation
import Networking
import OrderedJSON

/// The control server's answer to a request for a speed test, when there is a test.
enum SpeedTestAnswer: Hashable, Sendable {
  /// With the oddities of the answer and how they were understood, a line each.
  case granted(SpeedTestGrant, oddities: [String])
  /// The server has made a test, and its answer cannot be used: the test has to be closed (docs/protocol.md, 6.3).
  case unusable(testUUID: String, ServerFailure)

  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` for an answer without a test.
  init(_ body: Data) throws(ServerFailure) {
    do {
      var oddities: [String] = []
      self = .granted(try SpeedTestGrant(body, &oddities), oddities: oddities)
    } catch {
      guard let test = SpeedTestGrant.testUUID(in: body) else { throw error }
      self = .unusable(testUUID: test, error)
    }
  }
}

/// The request that submits the results of a test's QoS tests (/resultQoS; docs/protocol.md, 6.4).
struct QoSSubmission: Hashable, Sendable {
  /// The client UUID that requested the test.
  var clientUUID: String
  /// The token of the test, byte by byte as it was issued.
  var token: String
  /// Now.
  var submitted: WallTime
  /// The results, a JSON array.
  var results: String

  func text(_ device: Device) -> String {
    let head = JSON.object(
      JSON.members([
        "client_uuid": .string(clientUUID), "uuid": .string(clientUUID), "test_token": .string(token),
        "time": .integer(submitted.milliseconds),
      ]) + device.members
    ).text
    return head.dropLast() + ",\"qos_result\":\(results)}"
  }
}

extension ControlServerClient {
  /// Requests a speed test (/testRequest). Its token is good for the address that the server sees.
  func requestSpeedTest(_ request: SpeedTestRequest, by connection: FetchRequest.Connection) async throws(ServerFailure)
    -> SpeedTestAnswer
  {
    try SpeedTestAnswer(
      try await post("testRequest", text: request.json(device).text, clientUUID: request.clientUUID, by: connection))
  }

  /// Requests the QoS tests that belong to a speed test (/qosTestRequest).
  /// - Returns: The answer, as `SpeedTest.QoSObjectives` reads it.
  func requestQoS(_ request: SpeedTestRequest) async throws(ServerFailure) -> Data {
    try await post("qosTestRequest", text: request.json(device).text, clientUUID: request.clientUUID)
  }
}
