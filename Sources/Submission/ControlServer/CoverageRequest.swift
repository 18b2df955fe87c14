import Coverage
import OrderedJSON

/// The request for a test, to which fences can be submitted, and for a ping token (docs/protocol.md, 3.4).
public struct CoverageRequest: Hashable, Sendable {
  /// The client UUID of this device's registration.
  public let clientUUID: String
  /// The loop of the session before; `nil` for the first session of a drive.
  public let loopUUID: String?
  /// The anchor, sent to the millisecond: the server adds the offsets of the fences to it.
  public let time: WallTime

  public init(clientUUID: String, loopUUID: String?, time: WallTime) {
    (self.clientUUID, self.loopUUID, self.time) = (clientUUID, loopUUID, time)
  }

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "client_uuid": .string(clientUUID),
        "uuid": .string(clientUUID),
        "loop_uuid": loopUUID.map(JSON.string),
        "time": .integer(time.milliseconds),
        "measurement_type_flag": "dedicated",
      ]) + device.members)
  }
}

/// A request that submits fences or a speed test, ready to send (``ControlServerClient/prepare(_:)``).
struct PreparedResult: Hashable, Sendable {
  /// The request's name.
  let path: String
  /// The body.
  let text: String
  /// The client UUID in the body; it is redacted in failures.
  let clientUUID: String
}
