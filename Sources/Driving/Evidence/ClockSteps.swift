import Coverage

/// The lead of the host's clock over the log's start time, at each moment of a drive, from the drive log. A pure value.
struct ClockSteps {
  /// The part of the lead that a drive log does not contain: smaller steps, and slewing since the last step.
  private static let unlogged: Duration = .seconds(1.1)
  /// The log can contain a step this late.
  private static let detectionDelay: Duration = .seconds(3)

  private var steps: [(at: DriveTime, sum: Duration)] = [(DriveTime(microseconds: .min), .zero)]

  /// - Parameters:
  ///   - events: The events of the drive log; each `clock_set` moves the drive's times.
  ///   - hostLeads: The leads of the host's clock over the drive's time, each from its time on; before the first one, zero.
  init(_ events: [Event], hostLeads: [(at: DriveTime, lead: Duration)] = []) {
    let moves = events.compactMap { event in
      if case .clockSet(let step) = event.kind { (at: event.at, step: step, lead: Duration?.none) } else { nil }
    }
    let leads = hostLeads.map { (at: $0.at, step: Duration.zero, lead: Optional($0.lead)) }
    var (sum, lead) = (Duration.zero, Duration.zero)
    for change in (moves + leads).sorted(by: { $0.at < $1.at }) {
      sum += change.step
      lead = change.lead ?? lead
      steps.append((change.at, sum + lead))
    }
  }

  /// Whether the clock explains that a ping's packet passed later than the log's time of it.
  /// - Parameters:
  ///   - nanoseconds: The difference of the two times; negative when the packet passed earlier.
  ///   - interval: The interval at which pings are sent: the longest delay of sending.
  func explain(_ nanoseconds: Int64, at time: DriveTime, within interval: Duration) -> Bool {
    let possible = steps.indices.filter { index in
      let isOver = index + 1 < steps.count && steps[index + 1].at < time
      return steps[index].at <= time + Self.detectionDelay && !isOver
    }
    return possible.contains { (.nanoseconds(nanoseconds) - steps[$0].sum).magnitude <= Self.unlogged + interval }
  }
}
