/// The history of one receiver's time: whether it runs with CLOCK_BOOTTIME, and since when.
struct ReceiverTrack: Hashable, Sendable, Codable {
  /// Consecutive readings that agree with each other.
  private struct Run: Hashable, Sendable, Codable {
    /// The wall time of the boot by the first reading.
    let first: WallTime
    let since: Duration
    /// The wall time of the boot by all readings; the least delayed ones count most.
    var booted: WallTime
    var latest: Duration
    var count = 1

    init(_ booted: WallTime, at boot: Duration) {
      (first, self.booted) = (booted, booted)
      (since, latest) = (boot, boot)
    }

    /// - Returns: Whether the reading agrees with the run. Readings of one moment differ by the delays of the serial line.
    mutating func append(_ new: WallTime, at boot: Duration) -> Bool {
      let drift = ClockReading.drift(from: since, to: boot)
      guard first.gap(to: new) <= ReceiverTrack.jitter.saturatingAdding(drift) else { return false }
      let later = new.microseconds.saturatingSubtracting(booted.microseconds)
      booted = WallTime(microseconds: booted.microseconds.saturatingAdding(later > 0 ? later : later / 16))
      latest = max(latest, boot)
      count += count < .max ? 1 : 0
      return true
    }

    var lasted: Duration { latest - since }
  }

  /// In microseconds: the uncertainty of a reading, because serial lines deliver a receiver's time late.
  private static let margin: Int64 = 1_500_000
  /// In microseconds: two readings of a run differ by no more than this and the drift between them.
  private static let jitter: Int64 = 1_500_000
  /// A run becomes steady after this duration and this number of readings.
  private static let shortestRun = Duration.seconds(4)
  private static let fewestReadings = 5
  /// After a jump, the new run becomes steady only after this duration.
  private static let runAfterJump = Duration.seconds(10)

  private var steady: Run?
  private var candidate: Run?
  /// More jumps than these make no difference.
  static let mostJumps = 1000
  /// How often the time has jumped since it was first steady; at most ``mostJumps``.
  private(set) var jumps = 0
  private(set) var latest = Duration.zero

  mutating func append(_ booted: WallTime, at boot: Duration) {
    latest = max(latest, boot)
    if steady?.append(booted, at: boot) == true {
      candidate = nil
      return
    }
    guard candidate?.append(booted, at: boot) == true else {
      candidate = Run(booted, at: boot)
      return
    }
    guard let run = candidate, run.count >= Self.fewestReadings,
      run.lasted >= (steady == nil ? Self.shortestRun : Self.runAfterJump)
    else { return }
    if steady != nil { jumps += jumps < Self.mostJumps ? 1 : 0 }
    (steady, candidate) = (run, nil)
  }

  /// The receiver's time; `nil` before it is steady.
  var reading: ClockReading? {
    steady.map { ClockReading(booted: $0.booted, at: $0.latest, margin: Self.margin) }
  }

  /// All stored moments, since the boot.
  var moments: [Duration] { [steady, candidate].compactMap { $0 }.flatMap { [$0.since, $0.latest] } + [latest] }

  /// How long the receiver's time has been steady.
  var lasted: Duration { steady?.lasted ?? .zero }
}
