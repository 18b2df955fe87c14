import OrderedJSON
import Pinging

/// The results of a run by target, and the lines to print about them. A pure value.
struct PingResults {
  typealias Subject = Int

  private struct Entry {
    var name: String
    var statistics: PingStatistics
    /// Whether events of it are still expected.
    var isRunning = true
  }

  /// With more targets than this, percentiles have two significant digits instead of three, to save memory.
  static let mostExactTargets = 100

  private let format: PingOptions.Format
  /// Whether there are lines of single pings.
  private let isQuiet: Bool
  private var entries: [Entry]
  /// Events that were dropped because the reader fell behind. They may concern any target.
  private(set) var missingEvents: UInt64 = 0

  init(
    names: [String], format: PingOptions.Format, isQuiet: Bool = false,
    leastOutage: UInt64 = TargetOutages.usualLeastPings
  ) {
    let statistics = PingStatistics(
      isCoarse: names.count > Self.mostExactTargets, leastOutage: leastOutage)
    entries = names.map { Entry(name: $0, statistics: statistics) }
    (self.format, self.isQuiet) = (format, isQuiet)
  }

  var running: [Subject] { entries.indices.filter { entries[$0].isRunning } }
  var isRunning: Bool { entries.contains(where: \.isRunning) }
  /// Whether every target has answered at least once. A refusal is no answer.
  var haveAllAnswered: Bool { entries.allSatisfy { $0.statistics[.answered] > 0 } }

  /// Counts an event.
  /// - Parameter subject: The target that it concerns; `nil` for an event about missing events.
  /// - Returns: The line to print, if any.
  mutating func record(_ event: PingEvent, of subject: Subject?, by wallClock: WallReading) -> String? {
    if case .overflow(let count) = event.kind {
      missingEvents += count
      return nil
    }
    guard let subject, entries.indices.contains(subject) else { return nil }
    if event.kind == .finished || event.kind == .removed {
      entries[subject].isRunning = false
      return nil
    }
    entries[subject].statistics.count(event)
    if isQuiet { return nil }
    let line = PingVerdictLine(name: entries[subject].name, event: event, wallClock: wallClock)
    return format == .json ? line.json : line.text
  }

  /// Marks the target as finished when the event that reports this is missing.
  mutating func finish(_ subject: Subject) { entries[subject].isRunning = false }

  /// Gives a target another name for the lines from now on, after its address has changed.
  mutating func rename(_ subject: Subject, _ name: String) { entries[subject].name = name }

  /// - Parameter underWay: The number of pings of each target without a verdict, for a summary during the run; `nil`
  ///   at its end.
  func summaries(underWay: [UInt64]? = nil) -> [String] {
    var lines = entries.indices.map { subject in
      let summary = PingSummary(
        name: entries[subject].name, statistics: entries[subject].statistics, underWay: underWay?[subject])
      return format == .json ? summary.json : summary.text
    }
    if missingEvents > 0 { lines.append(missing) }
    return lines
  }

  private var missing: String {
    if format == .json { return JSON.object(["missing_events": .integer(Int64(clamping: missingEvents))]).text }
    return "\(missingEvents) events are missing in these figures: the reader fell behind"
  }
}
