import ControlServer
import Coverage
import Pinging

/// A test of the control server, and when it was asked for.
struct Grant: Hashable, Sendable {
  let coverage: CoverageGrant
  /// The preparation it was requested for: the link and the address of this host by which the request left depend on it.
  let generation: PingSession.Generation
  let requested: DriveTime
  /// The time in the request, right or wrong: the server relates the fences to it, even if the host's clock is set before the test
  /// is used.
  let told: WallTime

  /// Whether pings may be sent on it: its life is not over, and the link is the one by which it was requested.
  func isUsable(at now: DriveTime, in session: PingSession, _ policy: RecoveryPolicy) -> Bool {
    session.mayUse(requestedFor: generation) && now - requested < policy.life(limit: coverage.maximumSession)
  }

  /// One line about pings that have to go by another `family` than the token's. A request through a proxy can come by the other one.
  func oddity(forPingsOf family: PingAddress.Family?) -> String? {
    guard let family, let version = coverage.ipVersion, version != family.rawValue else { return nil }
    return "the control server made the ping token for IPv\(version), but pings.ip-version is \(family.rawValue): "
      + "the ping server will refuse it"
  }
}
