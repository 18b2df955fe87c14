/// What came from gpsd and what became of it. Counts from the start of the client; they never go down.
public struct PositioningCounters: Hashable, Sendable {
  /// Lines that were gpsd reports of any class.
  public var reports = 0
  /// Lines that were no JSON object with a class.
  public var brokenLines = 0
  /// Lines beyond ``LineSplitter/maximumLength``, thrown away.
  public var overlongLines = 0
  /// Reports of classes that are not used.
  public var otherClasses = 0
  /// ERROR reports.
  public var complaints = 0
  /// Connections that ended, and attempts that failed.
  public var disconnections = 0

  /// TPV reports, usable or not.
  public var tpv = 0
  /// TPVs of receivers other than the chosen one.
  public var otherDevice = 0
  /// TPVs with mode 0 or 1.
  public var noFix = 0
  /// TPVs with a mode of 2 or 3 that carry no position all the same.
  public var withoutPosition = 0
  /// TPVs with a latitude or longitude that cannot be.
  public var outOfRange = 0
  /// TPVs at exactly 0,0: what some receivers send instead of nothing.
  public var nullIsland = 0
  /// TPVs that the receiver itself calls simulated (status 8).
  public var simulated = 0
  /// TPVs of an epoch that had been handed out before they came.
  public var stragglers = 0
  /// Epochs that had waited somewhere while this host was suspended or too busy, and came together with later ones.
  public var overtaken = 0
  /// TPVs that fell too far behind the receiver's clock: what waited somewhere, or was sent again; see ``ReceiverPace``.
  public var behind = 0
  /// TPVs with the time and the place of the epoch before, long after it.
  public var repeated = 0
  /// TPVs that added to an epoch instead of beginning one.
  public var merged = 0

  /// Fixes handed out, lost ones apart.
  public var fixes = 0
  /// Of these, fixes with a receiver's time more than 2 s from the host's.
  public var wrongTimes = 0
  /// Of these, fixes whose speed cannot be and was left out; see ``GPSD/Configuration/speedLimit``.
  public var impossibleSpeeds = 0
  /// Complete epochs at places that could not have been reached in the time; see ``JumpFilter``.
  public var jumps = 0
  /// How often the position was lost.
  public var losses = 0

  public init() {}

  /// The positions that were not used, by reason, for a person; `nil` when all were. Reports without a fix, and those of
  /// receivers that were not listened to, are none.
  public var refusals: String? {
    let reasons = [
      (withoutPosition, "incomplete"), (outOfRange, "not on Earth"), (nullIsland, "at 0,0"), (simulated, "simulated"),
      (stragglers + overtaken, "too late"), (behind, "old"), (repeated, "repeated"), (jumps, "out of reach"),
    ]
    let counted = reasons.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return counted.isEmpty ? nil : counted.joined(separator: ", ")
  }
}
