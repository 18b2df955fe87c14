import ControlServer
import Coverage
import NetworkPath
import Pinging
import Positioning

/// A test of the control server, and when it was asked for.
struct Grant: Sendable {
  let coverage: CoverageGrant
  /// What it was requested for; which link and which address of this host the request left by depends on it.
  let generation: PingSession.Generation
  let requested: DriveTime
  /// What the server was told then, right or wrong: it relates the fences to that, though the host's clock may be set before the test
  /// is used.
  let told: WallTime

  /// Whether pings may be sent on it: there is something left of its life, and the link is the one that it was requested by.
  func isUsable(at now: DriveTime, in session: PingSession, _ policy: RecoveryPolicy) -> Bool {
    session.mayUse(requestedFor: generation) && now - requested < policy.life(limit: coverage.maximumSession)
  }

  /// What is odd when pings have to go by `family`, in one line. A request through a proxy can come by the other one.
  func oddity(forPingsOf family: PingAddress.Family?) -> String? {
    guard let family, let version = coverage.ipVersion, version != family.rawValue else { return nil }
    return "the control server made the ping token for IPv\(version), but pings.ip-version is \(family.rawValue): "
      + "the ping server will refuse it"
  }
}

/// What can happen to a live drive, in one ordered stream.
enum DriveInput: Sendable {
  case positioning(PositioningEvent)
  /// What became of pings is to be read.
  case pingsDue
  case path(PathReading)
  case radio(Technology?)
  /// The control server gave a test for that preparation.
  case granted(Grant, for: PingSession.Generation)
  case requestFailed(TestTrouble, for: PingSession.Generation)
  /// Its ping server has that address.
  case resolved(PingAddress, Grant, for: PingSession.Generation)
  case unresolved(reason: String, for: PingSession.Generation)
  /// The addresses that a host has now; none when that could not be found out.
  case lookedUp(host: String, addresses: [PingAddress])
  /// Once a second.
  case tick
  case stop
}
