import Coverage
import Foundation

/// The requests of `ControlServerClient` that ``GatedServer`` sends; tests implement it without a server.
protocol ControlServing: Sendable {
  /// Empty for a device without a control server.
  var url: String { get }
  /// The server's time from its last success; `nil` when it is unknown.
  var latestDate: ServerDateReading? { get }
  /// Composes a request without sending it.
  func prepare(_ result: CoverageResult) -> PreparedResult
  func prepare(_ result: SpeedTestResult) -> PreparedResult
  func prepare(_ result: QoSSubmission) -> PreparedResult
  func prepareClosing(clientUUID: String, testUUID: String, isFailed: Bool) -> PreparedResult

  // Each of these is one request. They throw `ServerFailure`.
  func settings(clientUUID: String?) async throws -> String
  func requestCoverage(
    _ request: CoverageRequest, isForPings: Bool, by interface: String?, family: IPVersion?
  ) async throws -> CoverageGrant
  func requestSpeedTest(
    _ request: SpeedTestRequest, by interface: String?, family: IPVersion?
  ) async throws -> SpeedTestAnswer
  func requestQoS(_ request: SpeedTestRequest) async throws -> Data
  func submit(_ result: PreparedResult) async throws
  func history(clientUUID: String, offset: Int, limit: Int) async throws -> HistoryPage
}

extension ControlServerClient: ControlServing {}
