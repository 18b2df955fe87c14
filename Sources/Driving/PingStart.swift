import Pinging

/// The pings of a test that begin.
struct PingStart: Hashable, Sendable {
  let target: PingTarget
  let grant: Grant
  let generation: PingSession.Generation
  /// In nanoseconds on the clock of ``Pinger/now``: after the session has begun.
  let firstSlot: UInt64

  var address: PingAddress { target.address }
  /// The host's name, as the control server gave it.
  var host: String { grant.coverage.pingHost }
}
