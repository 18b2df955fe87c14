/// Counters of reports, refusals and fixes since the start of the client. They never decrease.
public struct PositioningCounters: Hashable, Sendable {
  enum Counter {
    /// Lines that were gpsd reports of any class.
    case reports
    /// Lines that were not a JSON object with a class.
    case brokenLines
    /// Lines beyond ``LineSplitter/maximumLength``, discarded.
    case overlongLines
    /// Reports of classes that are not used.
    case otherClasses
    /// ERROR reports.
    case complaints
    /// Connections that ended, and attempts that failed.
    case disconnections

    /// TPV reports, usable or not.
    case tpv
    /// TPVs of receivers other than the chosen one.
    case otherDevice
    /// TPVs with mode 0 or 1.
    case noFix
    /// TPVs with mode 2 or 3 but without a position.
    case withoutPosition
    /// TPVs with a latitude or longitude that cannot be.
    case outOfRange
    /// TPVs at exactly 0,0, which some receivers send without a position.
    case nullIsland
    /// TPVs with a position that the receiver was given or has averaged, and does not measure now (status 7): it only gives the time.
    case surveyed
    /// TPVs that the receiver itself calls simulated (status 8).
    case simulated
    /// TPVs of an epoch whose fix was delivered before they came.
    case stragglers
    /// Epochs that were buffered while this host was suspended or too busy, and came together with later ones.
    case overtaken
    /// TPVs that were too far behind the receiver's clock, because they were buffered or sent again; see ``ReceiverPace``.
    case behind
    /// TPVs with the time and the position of the epoch before, long after it.
    case repeated
    /// TPVs that were merged into an epoch instead of starting one.
    case merged

    /// Delivered fixes with a position.
    case fixes
    /// Of ``fixes``, those whose receiver's time differs by more than 2 s from the host's.
    case wrongTimes
    /// Of ``fixes``, those whose speed was impossible and was left out; see ``GPSDConfiguration/speedLimit``.
    case impossibleSpeeds
    /// Complete epochs at positions that cannot be reached in the time; see ``JumpFilter``.
    case jumps
    /// How often the position was lost.
    case losses
  }

  private var counts: [Counter: Int] = [:]

  /// The counters at the start.
  public init() {}

  subscript(counter: Counter) -> Int {
    get { counts[counter, default: 0] }
    set { counts[counter] = newValue == 0 ? nil : newValue }
  }

  /// The number of refused positions by reason, for the operator; `nil` when there were none. Reports without a fix, and those of other
  /// receivers than the chosen one, do not count.
  public var refusals: String? {
    let reasons: [([Counter], String)] = [
      ([.withoutPosition], "incomplete"), ([.outOfRange], "not on Earth"), ([.nullIsland], "at 0,0"),
      ([.surveyed], "surveyed"), ([.simulated], "simulated"), ([.stragglers, .overtaken], "too late"),
      ([.behind], "old"), ([.repeated], "repeated"), ([.jumps], "out of reach"),
    ]
    let counted = reasons.map { ($0.0.reduce(0) { $0 + self[$1] }, $0.1) }.filter { $0.0 > 0 }
      .map { "\($0.0) \($0.1)" }
    return counted.isEmpty ? nil : counted.joined(separator: ", ")
  }
}
