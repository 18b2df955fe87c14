import Coverage

/// How far the host's clock was ahead of the time by which the drive started, at each moment, as its log tells. A pure value.
struct ClockSteps {
  /// What a drive log leaves out: smaller steps, and what the clock was slewed since the last one.
  private static let untold: Duration = .seconds(1.1)
  /// A step is noticed by and by.
  private static let notice: Duration = .seconds(3)

  private var steps: [(at: DriveTime, sum: Duration)] = [(DriveTime(microseconds: .min), .zero)]

  /// - Parameters:
  ///   - events: Of the drive log: the times of the drive move with each `clock_set`.
  ///   - hostLeads: By how much the host's clock was ahead of the drive's time, from when on; without any it never was.
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

  /// - Parameters:
  ///   - nanoseconds: How much later by the clock a ping left than the log has it.
  ///   - interval: From ping to ping: no ping leaves later than that.
  func explain(_ nanoseconds: Int64, at time: DriveTime, within interval: Duration) -> Bool {
    let possible = steps.indices.filter { index in
      let isOver = index + 1 < steps.count && steps[index + 1].at < time
      return steps[index].at <= time + Self.notice && !isOver
    }
    return possible.contains { abs(.nanoseconds(nanoseconds) - steps[$0].sum) <= Self.untold + interval }
  }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
