import Coverage
import NetworkPath
import Pinging
import Positioning

/// An input of a ``Drive``: an event of the outside world, or the answer to an effect.
enum DriveInput: Hashable, Sendable {
  // Of the outside world, in one ordered stream.
  /// Always the first one.
  case began
  case positioning(PositioningEvent)
  /// An event of a ping. All events known so far are handed over before any other input: a fence that closes then, or a drive that
  /// stops, has the pings that were answered before.
  case ping(PingEvent)
  /// All ping events known so far have been handed over.
  case pingsRead
  case path(PathReading)
  case radio(Technology?)
  /// The control server granted a test for that preparation.
  case granted(Grant, for: PingSession.Generation)
  case requestFailed(TestTrouble, for: PingSession.Generation)
  /// The ping server of the test has that address.
  case resolved(PingAddress, Grant, for: PingSession.Generation)
  case unresolved(reason: String, for: PingSession.Generation)
  /// The present addresses of a host; none when the look-up failed.
  case lookedUp(host: String, addresses: [PingAddress])
  /// Once a second.
  case tick(DriveReadings)
  case stop
  /// No more events come. Repeated until ``Drive/isSaved``.
  case ended

  // Answers to effects.
  case pingsBegan(PingTarget.ID, PingStart)
  case pingsRefused(reason: String, PingStart)
  case disk(DiskAnswer)
  /// The effects before ``DriveEffect/proceed(_:)`` have been run and answered.
  case proceed(DriveStage)
}
