import Coverage
import Pinging

/// A request for a test of the control server.
struct TestRequest: Hashable, Sendable {
  let generation: TestSelection.Generation
  /// The time of the request, in whole milliseconds of wall time.
  let at: DriveTime
  /// The wall time of the drive's start, as known at the request.
  let started: WallTime
  /// The loop that the test continues; `nil` for the first test.
  let loopUUID: String?

  /// The wall time sent to the server.
  var time: WallTime { started + at }
}
