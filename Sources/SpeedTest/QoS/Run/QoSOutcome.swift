import Coverage
import OrderedJSON

/// The results of all QoS tests.
public struct QoSOutcome: Hashable, Sendable {
  /// As the control server issued it (spec, edge 40).
  public let token: MeasurementToken
  /// One for each test, in the order of ``QoSObjectives/all``.
  public let results: [QoSResult]
  /// The bytes of all tests.
  public var traffic = SpeedTestTraffic()

  /// The members of the body of `/resultQoS` that come from the tests: the token and the results. The caller adds the client's members.
  public var members: [JSON.Member] {
    JSON.members(["test_token": .string(token.text), "qos_result": .array(results.map(\.json))])
  }
}
