import CPinger
import Coverage
import Foundation

/// The host: its clock, and how late a sleeping thread is woken, which is how late pings are sent.
enum HostExamination {
  struct Measures: Hashable, Sendable {
    var wall: WallTime
    /// Whether a time service sets the clock; `nil` when the kernel does not say.
    var isSynchronised: Bool?
    /// How much longer each sleep of 10 ms took.
    var overshoots: [Duration]
    /// Whether this user may send ICMP echo requests.
    var echo = EchoRight.granted
    /// Whether drives send them.
    var isEchoNeeded = false
  }

  /// 5 % of the default time from ping to ping. A 95th percentile above it is a warning.
  static let latest: Duration = .milliseconds(5)

  /// Reads the clock and the rights, and sleeps 50 times for 10 ms, so it takes half a second.
  /// - Parameter isEchoNeeded: Whether drives ping by ICMP.
  static func measure(wall: WallTime, isEchoNeeded: Bool) async -> Measures {
    let answer = cpprocess_clock_is_synchronised(nil)
    let overshoots = await withCheckedContinuation { continuation in
      // Use a new thread: a sleep would block a thread of the shared pool.
      Thread.detachNewThread { continuation.resume(returning: (0..<50).map { _ in overshoot(of: .milliseconds(10)) }) }
    }
    return Measures(
      wall: wall, isSynchronised: answer < 0 ? nil : answer == 1, overshoots: overshoots, echo: EchoRight.ofThisProcess,
      isEchoNeeded: isEchoNeeded)
  }

  /// How much longer than `nap` a sleep took.
  private static func overshoot(of nap: Duration) -> Duration {
    let begin = ContinuousClock.now
    usleep(useconds_t(nap.inMicroseconds))
    return max(.zero, ContinuousClock.now - begin - nap)
  }

  static func findings(_ measures: Measures) -> [Finding] {
    [clock(measures), timer(measures), measures.echo.finding(isNeeded: measures.isEchoNeeded)]
  }

  /// Never a fault: a drive is recorded with a wrong clock too, and another clock can be selected (docs/clock.md).
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
        advice: "install chrony or systemd-timesyncd; the receiver is another clock, and so is a control server")
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

/// Whether a process may send ICMP echo requests, as `ping` does to plain hosts, and drives to a `pings.target` without a port. Other pings
/// are UDP and need no right.
enum EchoRight: Hashable, Sendable {
  /// An echo socket can be opened.
  case granted
  /// Only a raw socket can be opened; the groups that may open an echo socket, as the kernel writes them: `1 0` is no group.
  case byCapability(groups: String)
  /// Neither can be opened.
  case refused(groups: String)
  /// The kernel has no such sockets now, e.g. because all descriptors are in use.
  case unknown(reason: String)

  /// Tried by opening the sockets: the groups, capabilities and a sandbox each can decide.
  static var ofThisProcess: EchoRight {
    // The datagram socket needs a group of ping_group_range, the raw one CAP_NET_RAW.
    guard let refusal = refusal(SOCK_DGRAM) else { return .granted }
    let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ping_group_range", encoding: .utf8)
    // The kernel writes a tab between both numbers.
    let groups = (range ?? "unknown").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard let refusalOfRaw = Self.refusal(SOCK_RAW) else { return .byCapability(groups: groups) }
    let isForbidden = [refusal, refusalOfRaw].allSatisfy { $0 == EACCES || $0 == EPERM }
    return isForbidden ? .refused(groups: groups) : .unknown(reason: String(cString: strerror(refusalOfRaw)))
  }

  /// - Returns: errno; `nil` when the socket can be opened.
  private static func refusal(_ kind: __socket_type) -> CInt? {
    let descriptor = socket(AF_INET, CInt(kind.rawValue) | CInt(SOCK_CLOEXEC.rawValue), CInt(IPPROTO_ICMP))
    guard descriptor >= 0 else { return errno }
    close(descriptor)
    return nil
  }

  /// Never a fault: where drives need the right, it is their pings that fail.
  func finding(isNeeded: Bool) -> Finding {
    let range = "net.ipv4.ping_group_range is"
    let permit = "sysctl -w net.ipv4.ping_group_range=\"0 2147483647\", and the same in /etc/sysctl.d"
    return switch self {
    case .byCapability(let groups) where isNeeded:
      Finding(
        .warning, .host,
        "the pings to pings.target are permitted by CAP_NET_RAW alone, which the service has not: \(range) \(groups)",
        advice: "\(permit); or a target with protocol: udp-echo")
    case .granted, .byCapability: Finding(.good, .host, "ICMP pings are permitted")
    case .refused(let groups) where isNeeded:
      Finding(
        .note, .host, "the pings to pings.target are not permitted: \(range) \(groups)",
        advice: "\(permit); or a target with protocol: udp-echo")
    case .refused(let groups):
      Finding(
        .note, .host, "`ping` without --udp is not permitted: \(range) \(groups); drives are not affected",
        advice: "\(permit); or run `ping` with CAP_NET_RAW")
    case .unknown(let reason): Finding(.note, .host, "whether ICMP pings are permitted is unknown: \(reason)")
    }
  }
}
