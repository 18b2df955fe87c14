/// Whether the host sleeps or is about to. A pure value.
///
/// logind announces a sleep and its end, but either message can be lost, and a suspend without logind has none. The clocks tell for sure:
/// CLOCK_BOOTTIME counts a suspend and CLOCK_MONOTONIC does not.
struct SleepWatch: Hashable, Sendable {
  /// A smaller jump between the clocks comes from reading them one after the other.
  static let leastSuspend = Duration.seconds(1)
  /// If the host still runs after this time, the announced sleep does not come. logind waits 5 s for delay locks.
  static let announcementLimit = Duration.seconds(60)

  private var lead: Duration
  /// CLOCK_MONOTONIC of the announcement.
  private var announced: Duration?

  init(at moment: LoopMoment) { lead = moment.boot - moment.awake }

  var isAsleep: Bool { announced != nil }

  /// - Returns: Whether the host was suspended since the last call. Then it is awake now.
  mutating func wasSuspended(at moment: LoopMoment) -> Bool {
    let jump = moment.boot - moment.awake - lead
    lead = max(lead, moment.boot - moment.awake)
    let isSuspend = jump >= Self.leastSuspend
    if isSuspend || (remaining(at: moment).map { $0 <= .zero } ?? false) { announced = nil }
    return isSuspend
  }

  mutating func announce(at moment: LoopMoment) { announced = announced ?? moment.awake }

  mutating func end() { announced = nil }

  /// How long the announcement still counts; `nil` without one.
  func remaining(at moment: LoopMoment) -> Duration? {
    announced.map { $0 + Self.announcementLimit - moment.awake }
  }
}
