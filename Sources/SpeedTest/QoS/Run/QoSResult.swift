import OrderedJSON

/// The result of one test, as `/resultQoS` takes it.
public struct QoSResult: Hashable, Sendable {
  /// The control server's number of the test.
  public let uid: Int64
  /// What was tested.
  public let kind: QoSTestKind
  /// How it ended.
  public let status: QoSStatus
  /// ns since the start of the first test.
  public let start: Int64
  /// ns.
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
