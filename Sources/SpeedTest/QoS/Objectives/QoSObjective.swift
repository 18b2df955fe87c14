/// One QoS test that the control server asks for.
public struct QoSObjective: Hashable, Sendable {
  /// The number of the test at the control server, `qos_test_uid`; the result repeats it.
  let uid: Int64
  /// The type of the test.
  public let kind: QoSTestKind
  /// `concurrency_group`, 0 when it is absent. Groups run in ascending order, the tests of one group in parallel.
  public let group: Int64
  /// All parameters of the objective; each test reads its own.
  let parameters: QoSParameters

  /// `nil` without `qos_test_uid`: no result could be assigned to it.
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
