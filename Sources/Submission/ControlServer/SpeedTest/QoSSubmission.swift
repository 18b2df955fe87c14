import Coverage
import OrderedJSON

/// The request that submits the results of a test's QoS tests (/resultQoS; docs/protocol.md, 6.4).
public struct QoSSubmission: Hashable, Sendable {
  /// The client UUID that requested the test.
  public var clientUUID: String
  /// The token of the test, byte by byte as it was issued.
  public var token: String
  /// Now.
  public var submitted: WallTime
  /// The results, a JSON array.
  public var results: String

  /// Results with the given values.
  public init(clientUUID: String, token: String, submitted: WallTime, results: String) {
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
