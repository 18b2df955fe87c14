/// A receiver's time over time: whether it runs with CLOCK_BOOTTIME, and since when.
struct ReceiverTrack: Hashable, Sendable, Codable {
  /// A run of readings that fit to each other.
  private struct Run: Hashable, Sendable, Codable {
    /// The wall time of the boot by the first reading.
    let first: WallTime
    let since: Duration
    /// The same by all of them: the least delayed ones count most.
    var booted: WallTime
    var latest: Duration
    var count = 1

    init(_ booted: WallTime, at boot: Duration) {
      (first, self.booted) = (booted, booted)
      (since, latest) = (boot, boot)
    }

    /// - Returns: Whether the reading fits. Readings of one moment differ by the delays of the serial line.
    mutating func take(_ new: WallTime, at boot: Duration) -> Bool {
      let drift = WallClock.Reading.drift(from: since, to: boot)
      guard gap(first, new) <= ReceiverTrack.jitter.saturatingAdding(drift) else { return false }
      let later = new.microseconds.saturatingSubtracting(booted.microseconds)
      booted = WallTime(microseconds: booted.microseconds.saturatingAdding(later > 0 ? later : later / 16))
      latest = max(latest, boot)
      count += count < .max ? 1 : 0
      return true
    }

    var lasted: Duration { latest - since }
  }

  private static let jitter: Int64 = 1_500_000
  /// So long, and in so many readings, a time runs before it is one.
  private static let shortestRun = Duration.seconds(4)
  private static let fewestReadings = 5
  /// A receiver that has jumped stays there for so long before it is believed again.
  private static let runAfterJump = Duration.seconds(10)

  private var steady: Run?
  private var candidate: Run?
  /// How often its time has jumped since it was steady first.
  private(set) var jumps = 0
  private(set) var latest = Duration.zero

  mutating func note(_ booted: WallTime, at boot: Duration) {
    latest = max(latest, boot)
    if steady?.take(booted, at: boot) == true {
      candidate = nil
      return
    }
    guard candidate?.take(booted, at: boot) == true else {
      candidate = Run(booted, at: boot)
      return
    }
    guard let run = candidate, run.count >= Self.fewestReadings,
      run.lasted >= (steady == nil ? Self.shortestRun : Self.runAfterJump)
    else { return }
    if steady != nil { jumps += jumps < 1000 ? 1 : 0 }
    (steady, candidate) = (run, nil)
  }

  /// What it says; `nil` before it is steady.
  var reading: WallClock.Reading? {
    steady.map { WallClock.Reading(booted: $0.booted, at: $0.latest, margin: WallClock.receiverMargin) }
  }

  /// Moments that are kept, since the boot.
  var moments: [Duration] { [steady, candidate].compactMap { $0 }.flatMap { [$0.since, $0.latest] } + [latest] }

  /// For how long it has been steady.
  var lasted: Duration { steady?.lasted ?? .zero }
}
