import Coverage

/// Figures that only drive logs have: single pings, refused positions and steps of the clock. Stored fences have sums and
/// percentiles only.
public struct LogFigures: Sendable {
  /// Delays of single pings that were sent within a selected fence.
  public private(set) var delays = DelayCounts()
  /// Absolute differences of the delays of neighbouring pings in one fence.
  public private(set) var variations = DelayCounts()
  /// Of ``delays``, those with kernel stamps at both ends.
  public private(set) var kernelStamped = 0
  /// The most pings in a row without an answer.
  private(set) var longestLoss = 0
  /// Positions between the entry of the first selected fence of a drive and the exit of its last. Of these: refused for their
  /// accuracy, and losses of the position.
  public private(set) var fixes = (all: 0, refused: 0, lost: 0)
  /// Corrections of the drives' clocks, over whole drives.
  public private(set) var clockSteps = 0
  /// Their absolute sum, in microseconds.
  private(set) var clockStepMicroseconds: Int64 = 0
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
  ///   - parameters: Those of that drive: its accuracy limit, and its interval of pings.
  ///   - initialPath: The kind of link at the drive's start.
  ///   - events: Calls its argument with each event of the log.
  /// - Throws: Errors of `events`.
  mutating func add(
    fences: [Range<DriveTime>], parameters: Parameters, initialPath: Path,
    events: ((Event) throws -> Void) throws -> Void
  ) throws {
    var pings: [Ping] = []
    var windows = InaccurateWindows(accuracyLimit: parameters.accuracyLimit)
    var path = initialPath
    // A log that cannot be read to its end counts nothing: figures of half a drive would pass for those of the drive.
    var counted = self
    let span = (fences.first?.lowerBound ?? .start)...(fences.map(\.upperBound).max() ?? .start)
    try events { event in
      switch event.kind {
      case .ping(.answered(let delay, let isKernelStamped)) where path != .wifi:
        pings.append(Ping(at: event.at, nanoseconds: delay, isKernelStamped: isKernelStamped))
      case .ping(.failed) where path != .wifi:
        pings.append(Ping(at: event.at, nanoseconds: nil, isKernelStamped: false))
      // Pings on Wi-Fi belong to no fence (docs/algorithm.md, 4).
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
    // The log has outcomes in the order in which they came; losses come late.
    counted.count(
      pings.sorted { $0.at < $1.at }, in: fences, except: windows.ranges,
      reach: DelayVariation.reach(interval: parameters.pingInterval))
    self = counted
  }

  /// A fix without coordinates is the loss of the position.
  private mutating func count(_ fix: Fix, isAccurate: Bool) {
    fixes.all += 1
    if fix.coordinate == nil {
      fixes.lost += 1
    } else if !isAccurate {
      fixes.refused += 1
    }
  }

  /// Counts the pings in selected fences. Pings, fences and windows are in order of time, so one pass over each is enough.
  /// - Parameter reach: The greatest distance of neighbours, in microseconds.
  private mutating func count(
    _ pings: [Ping], in fences: [Range<DriveTime>], except inaccurate: [Range<DriveTime>], reach: Int64
  ) {
    var (open, skipped) = (fences[...], inaccurate[...])
    var (last, lost): (Ping?, Int) = (nil, 0)
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
        if let last, let former = last.nanoseconds, ping.at.microseconds - last.at.microseconds <= reach,
          let variation = DelayVariation.between(former, delay)
        {
          variations.add(nanoseconds: variation)
        }
      }
      last = ping
    }
  }
}
