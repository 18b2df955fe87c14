import Coverage
import Store

/// The shares of the distance, of time and of pings by reception: the section *Coverage by technology* of a report
/// (docs/report.md).
struct CoverageShares: Sendable {
  /// The fences of one reception, added up.
  struct Part: Hashable, Sendable {
    var fences = 0
    /// The distance from each fence to the next one, in metres (`Fence.distance(to:)`).
    var metres = 0.0
    var microseconds: Int64 = 0
    /// The pings that were sent and have an outcome.
    var pings = 0
    var answered = 0

    mutating func add(_ other: Part) {
      fences = fences.saturatingAdding(other.fences)
      metres += other.metres
      microseconds = microseconds.saturatingAdding(other.microseconds)
      pings = pings.saturatingAdding(other.pings)
      answered = answered.saturatingAdding(other.answered)
    }
  }

  /// Shares of what was measured, in percent; `nil` where nothing was.
  struct Percentages {
    let way: Double?
    let time: Double?
    let pings: Double?

    init(_ part: Part, of total: Part) {
      way = total.metres > 0 ? part.metres / total.metres * 100 : nil
      time = total.microseconds > 0 ? Double(part.microseconds) / Double(total.microseconds) * 100 : nil
      pings = total.pings > 0 ? Double(part.pings) / Double(total.pings) * 100 : nil
    }
  }

  /// The fences of one link on one drive.
  private struct LinkPart: LinkOfDrive {
    let id: Int64
    let started: WallTime
    let link: String?
    var parts: [Reception: Part] = [:]
    /// The fence that was added last, from whose centre the distance goes on.
    var last: Fence

    var metres: Double {
      // In a fixed order, so that the sum is the same each time.
      Reception.allCases.reduce(0) { $0 + (parts[$1]?.metres ?? 0) }
    }
  }

  /// The most runs of all links, beside two for each: when they are more, two become one, so that memory does not grow with the fences.
  private static let mostRuns = 16_384

  /// By the id of the drive in the store, which each link has of its own.
  private var links: [Int64: LinkPart] = [:]
  /// The metres from fence to fence of each link, in runs of equally many steps: those that were measured, and of these those with coverage.
  private var steps: [Int64: (count: Int, metres: ShareRuns)] = [:]
  /// The number of all runs, and the steps in each.
  private var (runs, runSize) = (0, 1)

  /// The parts, by reception. Two links of one drive have one distance, the longer one; it is divided as those of both together.
  var parts: [Reception: Part] {
    var sum: [Reception: Part] = [:]
    for drive in links.values.drives {
      let scale = Self.scale(drive)
      for link in drive {
        for (reception, var part) in link.parts {
          part.metres *= scale
          sum[reception, default: Part()].add(part)
        }
      }
    }
    return sum
  }

  /// By how much the metres of each link count, so that those of all links together are the distance of the drive.
  private static func scale(_ drive: [LinkPart]) -> Double {
    let (longest, all) = (drive.map(\.metres).max() ?? 0, drive.reduce(0) { $0 + $1.metres })
    return drive.count > 1 && all > 0 ? longest / all : 1
  }

  /// The share of the measured distance with coverage, and the precision of that share; `nil` where there is no interval. Samples are
  /// the distances from fence to fence, of many fences runs of them.
  var coveredDistance: (estimate: Estimate, deviations: CorrelatedMean)? {
    Estimate.share(
      ofPieces: links.values.drives.flatMap { drive in
        let scale = Self.scale(drive)
        return drive.flatMap { steps[$0.id]?.metres.runs ?? [] }.map {
          (whole: $0.whole * scale, part: $0.part * scale)
        }
      })
  }

  /// The number of drives, several links of one counted once.
  var drives: Int { links.values.drives.count }

  var total: Part { Self.sum(parts) { _ in true } }

  /// What was measured: coverage and no coverage.
  var measured: Part { Self.sum(parts, \.isMeasured) }

  var covered: Part { Self.sum(parts, \.isCoverage) }

  /// Adds a fence; the fences of a link come in order.
  /// - Returns: The metres from the fence of the link before, when this one continues it; they belong to the fence before.
  @discardableResult
  mutating func add(_ reported: StoredFence) -> Double? {
    let fence = reported.fence
    let last = links[reported.session.drive]?.last
    var link =
      links[reported.session.drive]
      ?? LinkPart(
        id: reported.session.drive, started: reported.session.driveStarted, link: reported.session.link, last: fence)
    link.last = fence
    link.parts[Reception(fence), default: Part()].fences += 1
    for (reception, microseconds) in fence.time(reported.microseconds) {
      link.parts[reception, default: Part()].add(Part(microseconds: microseconds))
    }
    if let reception = Reception(ofPings: fence) {
      link.parts[reception, default: Part()].add(Part(pings: fence.pings, answered: fence.pingsAnswered))
    }
    let metres = last?.distance(to: fence)
    var step = (measured: 0.0, covered: 0.0)
    if let last, let metres {
      let whole: Int64 = 1_000_000_000
      for (reception, share) in last.time(whole) {
        let part = metres * (Double(share) / Double(whole))
        link.parts[reception, default: Part()].metres += part
        if reception.isMeasured { step.measured += part }
        if reception.isCoverage { step.covered += part }
      }
    }
    links[reported.session.drive] = link
    if step.measured > 0 { add(step, of: reported.session.drive) }
    return metres
  }

  private mutating func add(_ step: (measured: Double, covered: Double), of drive: Int64) {
    let (before, count) = (steps[drive]?.metres.runs.count ?? 0, steps[drive]?.count ?? 0)
    steps[drive, default: (0, ShareRuns())].metres.add((step.measured, step.covered), toRun: count / runSize)
    steps[drive]?.count += 1
    runs += (steps[drive]?.metres.runs.count ?? 0) - before
    guard runs > Self.mostRuns + 2 * steps.count else { return }
    runSize *= 2
    for drive in steps.keys { steps[drive]?.metres.halve() }
    runs = steps.values.reduce(0) { $0 + $1.metres.runs.count }
  }

  /// Moves the time of a fence in which no ping was sent to what was not measured.
  mutating func setUnmeasured(_ microseconds: Int64, of fence: Fence, drive: Int64) {
    guard var link = links[drive], let whole = fence.duration?.inMicroseconds else { return }
    let measured = max(0, whole.saturatingSubtracting(microseconds))
    for ((reception, former), (_, rest)) in zip(fence.time(whole), fence.time(measured)) {
      guard let part = link.parts[reception] else { continue }
      link.parts[reception]?.microseconds = max(
        0, part.microseconds.saturatingSubtracting(former.saturatingSubtracting(rest)))
    }
    link.parts[.notMeasured, default: Part()].add(Part(microseconds: whole - measured))
    links[drive] = link
  }

  private static func sum(_ parts: [Reception: Part], _ isWanted: (Reception) -> Bool) -> Part {
    Reception.allCases.filter(isWanted).reduce(into: Part()) { sum, reception in
      if let part = parts[reception] { sum.add(part) }
    }
  }
}
