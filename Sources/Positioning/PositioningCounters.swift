/// Counters of reports, refusals and fixes since the start of the client. They never decrease.
public struct PositioningCounters: Hashable, Sendable {
  /// Lines that were gpsd reports of any class.
  public var reports = 0
  /// Lines that were not a JSON object with a class.
  var brokenLines = 0
  /// Lines beyond ``LineSplitter/maximumLength``, discarded.
  var overlongLines = 0
  /// Reports of classes that are not used.
  var otherClasses = 0
  /// ERROR reports.
  public var complaints = 0
  /// Connections that ended, and attempts that failed.
  var disconnections = 0

  /// TPV reports, usable or not.
  public var tpv = 0
  /// TPVs of receivers other than the chosen one.
  var otherDevice = 0
  /// TPVs with mode 0 or 1.
  public var noFix = 0
  /// TPVs with mode 2 or 3 but without a position.
  var withoutPosition = 0
  /// TPVs with a latitude or longitude that cannot be.
  var outOfRange = 0
  /// TPVs at exactly 0,0, which some receivers send without a position.
  var nullIsland = 0
  /// TPVs with a position that the receiver was given or has averaged, and does not measure now (status 7): it only gives the time.
  var surveyed = 0
  /// TPVs that the receiver itself calls simulated (status 8).
  var simulated = 0
  /// TPVs of an epoch whose fix was delivered before they came.
  var stragglers = 0
  /// Epochs that were buffered while this host was suspended or too busy, and came together with later ones.
  var overtaken = 0
  /// TPVs that were too far behind the receiver's clock, because they were buffered or sent again; see ``ReceiverPace``.
  public var behind = 0
  /// TPVs with the time and the position of the epoch before, long after it.
  var repeated = 0
  /// TPVs that were merged into an epoch instead of starting one.
  public var merged = 0

  /// Delivered fixes with a position.
  public var fixes = 0
  /// Of ``fixes``, those whose receiver's time differs by more than 2 s from the host's.
  var wrongTimes = 0
  /// Of ``fixes``, those whose speed was impossible and was left out; see ``GPSDConfiguration/speedLimit``.
  var impossibleSpeeds = 0
  /// Complete epochs at positions that cannot be reached in the time; see ``JumpFilter``.
  public var jumps = 0
  /// How often the position was lost.
  public var losses = 0

  /// The counters at the start.
  public init() {}

  /// The number of refused positions by reason, for the operator; `nil` when there were none. Reports without a fix, and those of other
  /// receivers than the chosen one, do not count.
  public var refusals: String? {
    let reasons = [
      (withoutPosition, "incomplete"), (outOfRange, "not on Earth"), (nullIsland, "at 0,0"), (surveyed, "surveyed"),
      (simulated, "simulated"), (stragglers + overtaken, "too late"), (behind, "old"), (repeated, "repeated"),
      (jumps, "out of reach"),
    ]
    let counted = reasons.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return counted.isEmpty ? nil : counted.joined(separator: ", ")
  }
}
