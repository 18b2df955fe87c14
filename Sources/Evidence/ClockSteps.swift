import Coverage

/// How far the host's clock had been set at each moment of a drive, as its log tells. A pure value.
struct ClockSteps {
  /// What a drive log leaves out: smaller steps, and what the clock was slewed since the last one.
  private static let untold: Duration = .seconds(1.1)
  /// A step is noticed by and by.
  private static let notice: Duration = .seconds(3)

  private var steps: [(at: DriveTime, sum: Duration)] = [(DriveTime(microseconds: .min), .zero)]

  init(_ events: [Event]) {
    for event in events {
      guard case .clockSet(let step) = event.kind, let last = steps.last else { continue }
      steps.append((event.at, last.sum + step))
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
