import Pinging

/// The start of pings on a test.
struct PingStart: Hashable, Sendable {
  let target: PingTarget
  let grant: GrantedTest
  let generation: TestSelection.Generation
  /// The time of the first ping in nanoseconds on the clock of `Pinger.now`, after the session has begun.
  let firstSlot: UInt64

  var address: PingAddress { target.address }
  /// The host's name as the control server sent it.
  var host: String { grant.coverage.pingHost }
}
