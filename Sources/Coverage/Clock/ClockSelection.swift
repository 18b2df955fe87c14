/// The wall time to use, the clock that it comes from, and why (docs/clock.md).
public struct ClockSelection: Hashable, Sendable, Codable {
  /// A clock. The raw values appear in drive logs and in the state of the clock.
  public enum Source: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// The receiver's clock.
    case gnss
    /// The control server's clock.
    case server
    /// The host's wall clock.
    case host

    /// In the alphabetical order of the raw values.
    public static func < (left: Source, right: Source) -> Bool { left.rawValue < right.rawValue }
  }

  /// Why the selection is as it is. The raw values appear in logs and in the state of the clock.
  public enum Reason: String, Hashable, Sendable, Codable {
    /// Only the host's clock is known.
    case alone = "no other clock is known"
    /// Two or more clocks agree.
    case agreement = "two clocks agree"
    /// The host's clock was set, and another clock agrees with the time that it showed before.
    case contradictedStep = "another clock contradicts the step of the host's clock"
    /// The host's clock shows a time outside of ``WallTime/plausible``.
    case hostNotSet = "the host's clock is not set"
    /// The receiver's time is steady and only the host's clock, which no other clock confirms, contradicts it.
    case steady = "the receiver's time is steady, and no other clock confirms the host's"
    /// No two clocks agree: the selection stays.
    case disagreement = "no two clocks agree"
  }

  /// The wall time at which CLOCK_BOOTTIME was 0.
  public internal(set) var booted: WallTime
  /// The clock that ``booted`` comes from.
  public internal(set) var source: Source
  /// Why this clock is selected.
  public internal(set) var reason: Reason
  /// Whether two clocks agree on ``booted``, or agreed when the selection was made.
  public internal(set) var isConfirmed: Bool
  /// The clocks that agree with ``booted`` now.
  public internal(set) var agreeing: [Source] = []
  /// The clocks that contradict ``booted`` now.
  public internal(set) var contradicting: [Source] = []
  /// `false` when every known clock is wrong; ``booted`` is then the host's.
  public internal(set) var isTrusted = true

  /// The wall time `boot` after the host's boot.
  public func wall(at boot: Duration) -> WallTime { booted.adding(boot) }

  /// Whether `other` is the same but for ``booted`` and ``isConfirmed``.
  public func isSame(as other: ClockSelection) -> Bool {
    (source, reason, isTrusted) == (other.source, other.reason, other.isTrusted)
      && (agreeing, contradicting) == (other.agreeing, other.contradicting)
  }
}

extension ClockSelection: CustomStringConvertible {
  /// One line for a log, e.g. `gnss rules, two clocks agree (gnss, server); host contradicts`.
  public var description: String {
    func names(_ sources: [Source]) -> String { sources.map(\.rawValue).joined(separator: ", ") }
    let agreed = agreeing.count > 1 ? " (\(names(agreeing)))" : ""
    let against = contradicting.isEmpty ? "" : "; \(names(contradicting)) contradicts"
    return "\(source.rawValue) rules, \(reason.rawValue)\(agreed)\(against)"
  }
}
