import Logging
import Pinging

/// A command of a ``Drive`` to the shell round it. Effects are run in their order; the answer to one is handled, and its own effects
/// are run, before the next one.
enum DriveEffect: Hashable, Sendable {
  /// A line for the program's log.
  case tell(Logger.Level, String)
  case report(DriveStatus)
  /// Answered by the same stage as an input.
  case proceed(DriveStage)

  // The drive log and the store: answered by ``DiskAnswer``.
  case disk(DiskEffect)

  // Tests of the control server.
  /// Answered later, by ``DriveInput/granted(_:for:)`` or ``DriveInput/requestFailed(_:for:)``. One at a time.
  case requestTest(TestRequest)
  case cancelRequest
  /// Answered later, by ``DriveInput/resolved(_:_:for:)`` or ``DriveInput/unresolved(reason:for:)``.
  case resolve(Grant, for: PingSession.Generation)

  // Pings.
  /// Answered by ``DriveInput/pingsBegan(_:_:)`` or ``DriveInput/pingsRefused(reason:_:)``.
  case beginPings(PingStart)
  case stopPings(PingTarget.ID)
  case removePings(PingTarget.ID)
  case redirectPings(PingTarget.ID, to: PingAddress)
  /// Resolves a host again, to an address like the one it had. Answered later, by ``DriveInput/lookedUp(host:addresses:)``.
  case lookUp(host: String, like: PingAddress)
}
