import Coverage
import Foundation
import OrderedJSON

/// The control server's answer to a request for a speed test, when there is a test.
enum SpeedTestAnswer: Hashable, Sendable {
  /// The test can run.
  case granted(SpeedTestGrant)
  /// The server has made a test, and its answer cannot be used: the test has to be closed (docs/protocol.md, 6.3).
  case unusable(testUUID: String, ServerFailure)

  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` for an answer without a test.
  init(_ body: Data) throws(ServerFailure) {
    do {
      self = .granted(try SpeedTestGrant(body))
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

  /// Results with the given values.
  init(clientUUID: String, token: String, submitted: WallTime, results: String) {
    (self.clientUUID, self.token, self.submitted, self.results) = (clientUUID, token, submitted, results)
  }

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
  /// Requests a speed test (/testRequest), by a new connection: its token is good for the address that the server sees.
  /// - Parameters:
  ///   - interface: The interface by which the request leaves, like the test; `nil`: any.
  ///   - family: The version of the internet protocol, like the test's; `nil`: either.
  func requestSpeedTest(
    _ request: SpeedTestRequest, by interface: String? = nil, family: IPVersion? = nil
  ) async throws(ServerFailure) -> SpeedTestAnswer {
    try SpeedTestAnswer(
      try await post(
        "testRequest", text: request.json(device).text, clientUUID: request.clientUUID,
        by: interface != nil || family != nil ? .bound(interface, family) : .fresh))
  }

  /// Requests the QoS tests that belong to a speed test (/qosTestRequest).
  /// - Returns: The answer, as `SpeedTest.QoSObjectives` reads it.
  func requestQoS(_ request: SpeedTestRequest) async throws(ServerFailure) -> Data {
    try await post("qosTestRequest", text: request.json(device).text, clientUUID: request.clientUUID)
  }

  /// The request that submits `result`, ready to send.
  func prepare(_ result: SpeedTestResult) -> PreparedResult {
    PreparedResult(path: "result", text: result.json(device).text, clientUUID: result.clientUUID)
  }

  /// The request that submits the results of QoS tests, ready to send.
  func prepare(_ result: QoSSubmission) -> PreparedResult {
    PreparedResult(path: "resultQoS", text: result.text(device), clientUUID: result.clientUUID)
  }

  /// The request that tells the server that a test has no result (/resultUpdate), ready to send.
  /// - Parameter isFailed: Whether it failed; else it was aborted.
  func prepareClosing(clientUUID: String, testUUID: String, isFailed: Bool) -> PreparedResult {
    let members = JSON.members([
      "uuid": .string(clientUUID), "client_uuid": .string(clientUUID), "test_uuid": .string(testUUID),
      "aborted": isFailed ? nil : true, "failed": isFailed ? true : nil,
    ])
    return PreparedResult(
      path: "resultUpdate", text: JSON.object(members + device.members).text, clientUUID: clientUUID)
  }
}
