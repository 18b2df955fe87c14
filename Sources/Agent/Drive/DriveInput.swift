import ControlServer
import Coverage
import Pinging
import Positioning

/// What can happen to a live drive, in one ordered stream.
enum DriveInput: Sendable {
  case positioning(PositioningEvent)
  case ping(PingEvent)
  case path(Path)
  case radio(Technology?)
  case granted(CoverageGrant, requested: DriveTime, address: PingAddress)
  case requestFailed(reason: String)
  /// The addresses that a host has now; none when that could not be found out.
  case resolved(host: String, addresses: [PingAddress])
  /// Once a second.
  case tick
  case stop
}
