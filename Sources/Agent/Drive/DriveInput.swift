import ControlServer
import Coverage
import NetworkPath
import Pinging
import Positioning

/// A test of the control server, and when it was asked for.
struct Grant: Sendable {
  let coverage: CoverageGrant
  let requested: DriveTime
  /// What the server was told then, right or wrong: it relates the fences to that, though the host's clock may be set before the test
  /// is used.
  let told: WallTime

  /// Whether there is anything left of the test's life.
  func isUsable(at now: DriveTime, _ policy: RecoveryPolicy) -> Bool {
    now - requested < policy.life(limit: coverage.maximumSession)
  }
}

/// What can happen to a live drive, in one ordered stream.
enum DriveInput: Sendable {
  case positioning(PositioningEvent)
  case ping(PingEvent)
  case path(PathReading)
  case radio(Technology?)
  /// The control server gave a test for that preparation.
  case granted(Grant, for: PingSession.Generation)
  case requestFailed(reason: String, for: PingSession.Generation)
  /// Its ping server has that address.
  case resolved(PingAddress, Grant, for: PingSession.Generation)
  case unresolved(reason: String, for: PingSession.Generation)
  /// The addresses that a host has now; none when that could not be found out.
  case lookedUp(host: String, addresses: [PingAddress])
  /// Once a second.
  case tick
  case stop
}
