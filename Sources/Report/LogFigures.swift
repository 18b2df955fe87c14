import Coverage

/// Figures that only drive logs have.
public struct LogFigures: Sendable {
  /// Delays of single pings that were sent within a selected fence.
  public private(set) var delays = DelayCounts()
  /// Absolute differences of the delays of neighbouring pings in one fence.
  public private(set) var variations = DelayCounts()
  /// Of ``delays``, those with kernel stamps at both ends.
  public private(set) var kernelStamped = 0
  /// The most pings in a row without an answer.
  public private(set) var longestLoss = 0
  /// Positions, and of these: refused for their accuracy, and losses of the position.
  public private(set) var fixes = (all: 0, refused: 0, lost: 0)
  /// Corrections of a drive's clock.
  public private(set) var clockSteps = 0
  /// Their absolute sum, in microseconds.
  public private(set) var clockStepMicroseconds: Int64 = 0
  /// The number of logs.
  public private(set) var logs = 0

  /// A ping.
  private struct Ping {
    let at: DriveTime
    /// `nil` for a ping without an answer.
    let nanoseconds: Int64?
    let isKernelStamped: Bool
  }

  /// Adds the log of a drive. Its pings are held while it is read: 24 bytes each.
  /// - Parameters:
  ///   - fences: The times of the drive's selected fences, in order.
  ///   - accuracyLimit: The limit of that drive, in metres.
  ///   - events: Calls its argument with each event of the log.
  /// - Throws: Errors of `events`.
  mutating func add(
    fences: [Range<DriveTime>], accuracyLimit: Double, events: ((Event) throws -> Void) throws -> Void
  ) throws {
    var pings: [Ping] = []
    var windows = InaccurateWindows(accuracyLimit: accuracyLimit)
    var path: Path?
    var counted = self
    let span = (fences.first?.lowerBound ?? .start)...(fences.map(\.upperBound).max() ?? .start)
    try events { event in
      switch event.kind {
      case .ping(.answered(let delay, let isKernelStamped)) where path != .wifi:
        pings.append(Ping(at: event.at, nanoseconds: delay, isKernelStamped: isKernelStamped))
      case .ping(.failed) where path != .wifi:
        pings.append(Ping(at: event.at, nanoseconds: nil, isKernelStamped: false))
      case .path(let now): path = now
      case .fix(let fix):
        let isAccurate = windows.add(fix, at: event.at)
        if span.contains(event.at) { counted.count(fix, isAccurate: isAccurate) }
      case .clockSet(let step):
        counted.clockSteps += 1
        counted.clockStepMicroseconds = counted.clockStepMicroseconds
          .saturatingAdding(step.inMicroseconds.saturatingMagnitude)
      default: break
      }
    }
    counted.logs += 1
    counted.count(pings.sorted { $0.at < $1.at }, in: fences, except: windows.ranges)
    self = counted
  }

  private mutating func count(_ fix: Fix, isAccurate: Bool) {
    fixes.all += 1
    if fix.coordinate == nil {
      fixes.lost += 1
    } else if !isAccurate {
      fixes.refused += 1
    }
  }

  private mutating func count(_ pings: [Ping], in fences: [Range<DriveTime>], except inaccurate: [Range<DriveTime>]) {
    var (open, skipped) = (fences[...], inaccurate[...])
    var (last, lost): (Int64?, Int) = (nil, 0)
    for ping in pings {
      while let fence = open.first, fence.upperBound <= ping.at {
        open.removeFirst()
        last = nil
      }
      while let window = skipped.first, window.upperBound <= ping.at { skipped.removeFirst() }
      // The exact moments of entry and exit belong to no fence (docs/algorithm.md, 4).
      guard let fence = open.first, fence.lowerBound < ping.at, skipped.first.map({ ping.at <= $0.lowerBound }) ?? true
      else { continue }
      lost = ping.nanoseconds == nil ? lost + 1 : 0
      longestLoss = max(longestLoss, lost)
      if let delay = ping.nanoseconds {
        delays.add(nanoseconds: delay)
        if ping.isKernelStamped { kernelStamped += 1 }
        if let last, let variation = DelayVariation.between(last, delay) { variations.add(nanoseconds: variation) }
      }
      last = ping.nanoseconds
    }
  }
}
