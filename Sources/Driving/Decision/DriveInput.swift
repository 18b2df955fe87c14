import Coverage
import Networking
import Pinging
import Positioning
import Store

/// An input of a ``Drive``: an event of the outside world, or the answer to an effect.
enum DriveInput: Hashable, Sendable {
  // From outside, in one ordered stream.
  /// Always the first input.
  case began
  case positioning(PositioningEvent)
  /// A ping event. All ping events known so far come before any other input, so that a fence that closes then, or a
  /// drive that stops, has the pings that were answered before.
  case ping(PingEvent)
  /// Follows the last known ping event.
  case pingsRead
  case path(PathReading)
  case radio(RadioReading)
  /// The control server granted a test for this preparation.
  case granted(GrantedTest, for: TestSelection.Generation)
  case requestFailed(TestTrouble, for: TestSelection.Generation)
  /// The ping server of the test has this address.
  case resolved(PingAddress, GrantedTest, for: TestSelection.Generation)
  case unresolved(reason: String, for: TestSelection.Generation)
  /// The present addresses of a host.
  case lookedUp(host: String, addresses: [PingAddress])
  case lookUpFailed(host: String, reason: String)
  /// Comes once a second.
  case tick(DriveReadings)
  /// The host is about to sleep. Pings stop until ``wake``.
  case sleep
  /// Writes all of the drive to the disk now.
  case flush
  /// A speed test begins on this device.
  case speedTestBegan
  /// The speed test loads the link in this part; `nil`: it does not load it now.
  case speedTestLoads(SpeedTestDelay.Part?)
  /// The speed test has ended.
  case speedTestEnded
  /// The host is awake again, or does not sleep after all.
  case wake
  case stop
  /// What was sent of the ended drive while the disk refused it; the next write includes it.
  case sentFromMemory([BatchInMemory])
  /// The stream of events has ended. Repeated until ``Drive/isSaved``.
  case ended

  // Answers to effects.
  case pingsBegan(PingTarget.ID, PingStart)
  case pingsRefused(reason: String, PingStart)
  case disk(DiskAnswer)
  /// The effects before ``DriveEffect/proceed(_:)`` have run and were answered.
  case proceed(DriveStage)
}
