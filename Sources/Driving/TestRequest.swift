import Coverage
import Pinging

/// A request for a test of the control server.
struct TestRequest: Hashable, Sendable {
  let generation: PingSession.Generation
  /// When it is made, to the whole millisecond of wall time.
  let at: DriveTime
  /// The wall time of the drive's start, as it is known then.
  let started: WallTime
  /// The loop that the test continues; `nil` for the first test.
  let loopUUID: String?

  /// The wall time that the server receives.
  var time: WallTime { started + at }
}
