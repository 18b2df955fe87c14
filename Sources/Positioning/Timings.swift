import Coverage

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How long the client waits for what. The defaults are for use; tests shorten them.
public struct Timings: Hashable, Sendable {
  /// For the TCP connection, all addresses of the host together.
  public var connection: Duration = .seconds(5)
  /// For gpsd's first word, which gpsd says to each client before anything else; it says nothing while it opens a device for another one,
  /// 5.1 s measured. A dead connection looks the same, so that further attempts wait no longer.
  public var greeting: Duration = .seconds(7)
  /// For gpsd's echo of the WATCH, at which gpsd opens its devices. Doubled for each further attempt that ends this way, up to
  /// ``longestPatience``: a gpsd that is merely slow gets its time.
  public var handshake: Duration = .seconds(8)
  /// Without a single line for this long gpsd is asked whether it is still there. Doubled, up to ``longestPatience``, for a server that
  /// leaves questions unanswered again and again.
  public var silence: Duration = .seconds(5)
  /// Without a single line for this long after the question the connection counts as dead.
  public var answer: Duration = .seconds(2)
  /// The longest ``handshake`` and ``silence``.
  public var longestPatience: Duration = .seconds(30)
  /// Before the first new attempt; doubled for each further one. There is no pause after an attempt that has waited in vain for an answer.
  public var firstRetry: Duration = .seconds(1)
  /// The longest pause between attempts.
  public var longestRetry: Duration = .seconds(10)
  /// The longest pause between attempts where gpsd is on this host: nobody else is disturbed.
  public var longestLocalRetry: Duration = .seconds(5)
  /// An epoch is complete when its receiver has said nothing more for this long.
  public var epochQuiet: Duration = .milliseconds(200)
  /// An epoch is complete after this long in any case. Above 1 s: a slow NMEA receiver needs all of its second.
  public var longestEpoch: Duration = .milliseconds(1500)
  /// How often counters are told.
  public var account: Duration = .seconds(5)
  /// How often a state that does not change is logged.
  public var reminder: Duration = .seconds(60)

  public init() {}
}

/// A moment of this host on both its clocks.
public struct HostTime: Hashable, Sendable {
  /// For order and age.
  public let instant: ContinuousClock.Instant
  /// For comparison with the receiver's time, nothing else.
  public let wall: WallTime

  public init(instant: ContinuousClock.Instant, wall: WallTime) {
    self.instant = instant
    self.wall = wall
  }
}

/// Where the client reads the time; a value, so that a test can bring its own.
public struct HostClock: Sendable {
  let now: @Sendable () -> HostTime

  public init(now: @escaping @Sendable () -> HostTime) {
    self.now = now
  }

  /// The clocks of the system.
  public static let system = HostClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return HostTime(instant: .now, wall: WallTime(microseconds: microseconds))
  }
}
