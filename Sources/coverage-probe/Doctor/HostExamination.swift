import CPinger
import Coverage
import Foundation

/// The host: its clock, and how late a sleeping thread is woken, which is how late pings are sent.
enum HostExamination {
  /// The readings that ``findings(_:)`` judges.
  struct Measures: Hashable, Sendable {
    /// The host's wall clock.
    var wall: WallTime
    /// Whether a time service sets the clock; `nil` when the kernel does not say.
    var isSynchronised: Bool?
    /// How much longer each sleep of 10 ms took.
    var overshoots: [Duration]
    /// Whether this user may send ICMP echo requests.
    var echo = EchoRight.granted
  }

  /// 5 % of the default time from ping to ping. A 95th percentile above it is a warning.
  static let latest: Duration = .milliseconds(5)

  /// Reads the clock and the rights, and sleeps 50 times for 10 ms, so it takes half a second.
  static func measure(wall: WallTime) async -> Measures {
    let answer = cpprocess_clock_is_synchronised(nil)
    let overshoots = await withCheckedContinuation { continuation in
      // Use a new thread: a sleep would block a thread of the shared pool.
      Thread.detachNewThread { continuation.resume(returning: (0..<50).map { _ in overshoot(of: .milliseconds(10)) }) }
    }
    return Measures(
      wall: wall, isSynchronised: answer < 0 ? nil : answer == 1, overshoots: overshoots, echo: EchoRight.ofThisProcess)
  }

  /// How much longer than `nap` a sleep took.
  private static func overshoot(of nap: Duration) -> Duration {
    let begin = ContinuousClock.now
    usleep(useconds_t(nap.inMicroseconds))
    return max(.zero, ContinuousClock.now - begin - nap)
  }

  static func findings(_ measures: Measures) -> [Finding] {
    [clock(measures), timer(measures), measures.echo.finding]
  }

  /// Never a fault: a drive is recorded with a wrong clock too, and another clock can rule (docs/clock.md).
  private static func clock(_ measures: Measures) -> Finding {
    let now = measures.wall.iso8601
    guard WallTime.plausible.contains(measures.wall) else {
      return Finding(
        .warning, .host, "the clock shows an impossible time: \(now)",
        advice: "set it, or install a time service; until another clock corrects it, fences are kept and not sent")
    }
    switch measures.isSynchronised {
    case true?: return Finding(.good, .host, "a time service sets the clock (\(now))")
    case false?:
      return Finding(
        .note, .host, "no time service sets the clock (\(now))",
        advice: "install chrony or systemd-timesyncd; the receiver and the control server are two other clocks")
    case nil: return Finding(.note, .host, "the kernel does not say whether a time service sets the clock (\(now))")
    }
  }

  private static func timer(_ measures: Measures) -> Finding {
    let late = measures.overshoots.sorted().nearestRank(95) ?? .zero
    let text = "95 % of sleeps end at most \(late.inMicroseconds) µs late"
    guard late > latest else { return Finding(.good, .host, text) }
    return Finding(
      .warning, .host, "\(text): pings are sent late", advice: "end other programs that use the processor all the time")
  }
}
