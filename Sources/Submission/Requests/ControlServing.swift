import Coverage
import Foundation
import Networking
import OrderedJSON

/// The requests of `ControlServerClient` that ``GatedServer`` sends; tests implement it without a server.
protocol ControlServing: Sendable {
  /// Empty for a device without a control server.
  var url: String { get }
  /// A part of every request.
  var device: Device { get }

  // Each of these is one request. They throw `ServerFailure`.
  func settings(clientUUID: String?, by way: FetchRequest.Connection) async throws -> String
  func requestCoverage(_ request: CoverageRequest, by way: FetchRequest.Connection) async throws -> CoverageGrant
  func requestSpeedTest(_ request: SpeedTestRequest, by way: FetchRequest.Connection) async throws -> SpeedTestAnswer
  func requestQoS(_ request: SpeedTestRequest) async throws -> Data
  func submit(_ result: PreparedResult) async throws
  func history(clientUUID: String, offset: Int, limit: Int) async throws -> HistoryPage
}

extension ControlServerClient: ControlServing {}

/// Requests that are composed without being sent.
extension Device {
  func prepare(_ result: CoverageResult) -> PreparedResult {
    PreparedResult(path: "coverageResult", text: result.json(self).text, clientUUID: result.clientUUID)
  }

  func prepare(_ result: SpeedTestResult) -> PreparedResult {
    PreparedResult(path: "result", text: result.json(self).text, clientUUID: result.clientUUID)
  }

  func prepare(_ result: QoSSubmission) -> PreparedResult {
    PreparedResult(path: "resultQoS", text: result.text(self), clientUUID: result.clientUUID)
  }

  /// The request that tells the server that a test has no result (/resultUpdate).
  /// - Parameter isFailed: Whether it failed; else it was aborted.
  func prepareClosing(clientUUID: String, testUUID: String, isFailed: Bool) -> PreparedResult {
    let members = JSON.members([
      "uuid": .string(clientUUID), "client_uuid": .string(clientUUID), "test_uuid": .string(testUUID),
      "aborted": isFailed ? nil : true, "failed": isFailed ? true : nil,
    ])
    return PreparedResult(
      path: "resultUpdate", text: JSON.object(members + self.members).text, clientUUID: clientUUID)
  }
}
