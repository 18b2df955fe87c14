import Coverage
import OrderedJSON

/// The results of all QoS tests of a run.
public struct QoSOutcome: Hashable, Sendable {
  /// The token as the control server issued it, byte by byte (docs/protocol.md, edge 40).
  public let token: MeasurementToken
  /// One for each test, in the order of ``QoSObjectives/all``.
  public let results: [QoSResult]
  /// The bytes of all tests until the run ended, control connections included.
  public var traffic = SpeedTestTraffic()

  /// The members of the body of `/resultQoS` that come from the tests: the token and the results. The caller adds the client's
  /// members.
  public var members: [JSON.Member] {
    JSON.members(["test_token": .string(token.text), "qos_result": .array(results.map(\.json))])
  }
}
