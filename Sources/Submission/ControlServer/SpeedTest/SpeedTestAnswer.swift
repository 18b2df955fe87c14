import Foundation

/// The control server's answer to a request for a speed test, when there is a test.
public enum SpeedTestAnswer: Hashable, Sendable {
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
