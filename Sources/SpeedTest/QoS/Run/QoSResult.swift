import OrderedJSON

/// The result of one test, as `/resultQoS` takes it.
public struct QoSResult: Hashable, Sendable {
  /// The control server's number of the test.
  let uid: Int64
  /// The type of the test.
  public let kind: QoSTestKind
  /// The end of the test. The wire has it only inside `members`, where the type has a name for it.
  public let status: QoSStatus
  /// ns since the start of the run.
  public let start: Int64
  /// ns. In a test that ran, the opening of its control connection does not count.
  public let duration: Int64
  /// The objective and the figures, by the names of the wire.
  public let members: [JSON.Member]

  /// The entry of `qos_result`.
  public var json: JSON {
    .object(
      JSON.members([
        "qos_test_uid": .integer(uid), "test_type": .string(kind.rawValue), "start_time_ns": .integer(start),
        "duration_ns": .integer(duration),
      ]) + members)
  }
}
