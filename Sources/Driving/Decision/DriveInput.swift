import Coverage
import Logging
import Networking
import Pinging
import Positioning
import Settings
import Store
import Submission

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
  /// - Parameter endsSilent: Whether a silent test in use ends, too: this network reaches its address no more than that of the new one.
  case unresolved(reason: String, for: TestSelection.Generation, endsSilent: Bool = false)
  /// The present addresses of a host.
  case lookedUp(host: String, addresses: [PingAddress])
  case lookUpFailed(host: String, reason: String)
  /// Comes once a second.
  case tick(DriveReadings)
  /// The host is about to sleep. Pings stop until ``wake``.
  case sleep
  /// Writes all of the drive to the disk now.
  case flush
  /// A speed test, or its QoS tests, begins on this device.
  case speedTestBegan
  /// The speed test loads the link in this part; `nil`: it does not load it now.
  case speedTestLoads(SpeedTestDelay.Part?)
  /// What began has ended.
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
  /// Answered later, by ``DriveInput/resolved(_:_:for:)`` or ``DriveInput/unresolved(reason:for:endsSilent:)``. A name that is
  /// not found at once has the address that it had, so that a name server that fails does not end what works.
  case resolve(GrantedTest, for: TestSelection.Generation, orElse: PingAddress?)

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

/// The readings that a ``Drive`` gets once a second.
struct DriveReadings: Hashable, Sendable {
  var clock: Timekeeper.Reading
  var isCaptureInTrouble = false
}

/// The part of a step that runs after the effects before it, because it depends on their answers.
enum DriveStage: Hashable, Sendable {
  /// The store has accepted or refused the open fence; next is the drive log.
  case checkpointed(at: DriveTime)
  case report(at: DriveTime)
  /// Decide which test to ping on, and whether to request another one.
  case decision
  /// The store has accepted or refused the last fences; next is the end of the drive.
  case ending(at: DriveTime, StopReason)
}

/// The start of pings on a test.
struct PingStart: Hashable, Sendable {
  let target: PingTarget
  let grant: GrantedTest
  let generation: TestSelection.Generation
  /// The time of the first ping in nanoseconds on the clock of `Pinger.now`, after the session has begun.
  let firstSlot: UInt64

  var address: PingAddress { target.address }
  /// The host's name as the control server or the configuration has it.
  var host: String { grant.host }
}

extension PingStart {
  /// Time to the first ping, in nanoseconds: the session must begin before it.
  private static let delay: UInt64 = 20_000_000

  /// - Parameters:
  ///   - boot: The current time in nanoseconds on the clock of `Pinger.now`.
  ///   - echo: The protocol of the pings.
  init(
    to address: PingAddress, by echo: PingTarget.Echo, on grant: GrantedTest, for generation: TestSelection.Generation,
    _ options: DriveOptions, _ link: LinkSettings, at boot: UInt64
  ) {
    var target = PingTarget(
      address: address, echo: echo, interface: link.interface,
      interval: options.pingInterval, timeout: options.pingTimeout)
    target.awaitsInterface = true
    let first = boot.addingReportingOverflow(Self.delay).partialValue
    self.init(target: target, grant: grant, generation: generation, firstSlot: first)
  }
}

/// A request for a test of the control server.
struct TestRequest: Hashable, Sendable {
  let generation: TestSelection.Generation
  /// The time of the request, in whole milliseconds of wall time.
  let at: DriveTime
  /// The wall time of the drive's start, as known at the request.
  let started: WallTime
  /// The loop that the test continues; `nil` for the first test.
  let loopUUID: String?
  /// The IP version of the request, where the configuration names none and the server can be reached by it; `nil`: either.
  var family: IPVersion?

  /// The wall time sent to the server.
  var time: WallTime { started + at }
}
