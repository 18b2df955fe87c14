import ControlServer
import Coverage
import Pinging
import Positioning

/// A test of the control server, and when it was asked for.
struct Grant: Sendable {
  let coverage: CoverageGrant
  let requested: DriveTime
}

/// What can happen to a live drive, in one ordered stream.
enum DriveInput: Sendable {
  case positioning(PositioningEvent)
  case ping(PingEvent)
  case path(Path)
  case radio(Technology?)
  case granted(Grant, address: PingAddress)
  /// - Parameter unused: A test that was granted all the same; it can be used when the way to its ping server is found.
  case requestFailed(reason: String, unused: Grant?)
  /// Once a second.
  case tick
  case stop
}
