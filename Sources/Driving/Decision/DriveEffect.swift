import Coverage
import Logging
import Pinging

/// A command of a ``Drive`` to its shell. The shell runs effects in order. It passes the answer of each one to the
/// drive, and runs the effects of that answer, before the next one.
enum DriveEffect: Hashable, Sendable {
  /// A line for the program's log.
  case log(Logger.Level, String, OperatorEvent? = nil)
  case report(DriveStatus)
  /// Answered by an input with the same stage.
  case proceed(DriveStage)

  // The drive log and the store: answered by ``DiskAnswer``.
  case disk(DiskEffect)

  // Tests of the control server.
  /// Answered later, by ``DriveInput/granted(_:for:)`` or ``DriveInput/requestFailed(_:for:)``. One request at a
  /// time.
  case requestTest(TestRequest)
  case cancelRequest
  /// Answered later, by ``DriveInput/resolved(_:_:for:)`` or ``DriveInput/unresolved(reason:for:)``.
  case resolve(GrantedTest, for: TestSelection.Generation)

  // Pings.
  /// Answered by ``DriveInput/pingsBegan(_:_:)`` or ``DriveInput/pingsRefused(reason:_:)``.
  case beginPings(PingStart)
  case stopPings(PingTarget.ID)
  case removePings(PingTarget.ID)
  case redirectPings(PingTarget.ID, to: PingAddress)
  /// Looks up a host again, for an address of the family of the old one. Answered later, by
  /// ``DriveInput/lookedUp(host:addresses:)`` or ``DriveInput/lookUpFailed(host:reason:)``.
  case lookUp(host: String, like: PingAddress)
}
