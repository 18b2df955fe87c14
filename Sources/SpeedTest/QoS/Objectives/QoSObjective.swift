/// One QoS test that the control server asks for.
public struct QoSObjective: Hashable, Sendable {
  /// The server's number of the test.
  public let uid: Int64
  /// What is tested.
  public let kind: QoSTestKind
  /// Groups run in ascending order, the tests of one group in parallel.
  public let group: Int64
  let parameters: QoSParameters

  /// `nil` without a number of its own: no result could be assigned to it.
  init?(_ kind: QoSTestKind, _ parameters: QoSParameters) {
    guard let uid = parameters.number("qos_test_uid") else { return nil }
    self.uid = uid
    self.kind = kind
    self.parameters = parameters
    group = parameters.number("concurrency_group") ?? 0
  }

  /// The server of the test; `nil` when it needs none, or when none is named.
  var server: QoSServer? { kind.needsServer ? QoSServer(parameters) : nil }
}
