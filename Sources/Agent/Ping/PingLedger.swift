import OrderedJSON
import Pinging

/// What a run of pings has seen so far, target by target, and what is to be said of it. A pure value.
struct PingLedger {
  typealias Subject = Int

  private struct Entry {
    var name: String
    var statistics: PingStatistics
    var isRunning = true
  }

  /// With more targets than this, percentiles have two significant digits instead of three, to save memory.
  static let mostExactTargets = 100

  private let format: PingOptions.Format
  private var entries: [Entry]
  /// Events that were dropped because the reader was too slow. They may have been of any target.
  private(set) var missingEvents: UInt64 = 0

  /// - Parameter leastOutage: So many pings in a row without an answer are an outage.
  init(names: [String], format: PingOptions.Format, leastOutage: UInt64 = Outages.usualLeastPings) {
    let precision: Spread.Precision = names.count > Self.mostExactTargets ? .coarse : .fine
    entries = names.map { name in
      Entry(name: name, statistics: PingStatistics(precision: precision, leastOutage: leastOutage))
    }
    self.format = format
  }

  /// Targets that have not finished.
  var running: [Subject] { entries.indices.filter { entries[$0].isRunning } }
  var isRunning: Bool { entries.contains(where: \.isRunning) }
  /// Refusals are no answers.
  var haveAllAnswered: Bool { entries.allSatisfy { $0.statistics.answered > 0 } }

  /// - Parameters:
  ///   - subject: Whose event it is; `nil`: nobody's, as events that tell of others being missing.
  ///   - wallClock: The host's wall clock as it is now.
  /// - Returns: The line about it, where one is wanted.
  mutating func take(_ event: PingEvent, of subject: Subject?, by wallClock: WallReading) -> String? {
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
    let line = PingLine(name: entries[subject].name, event: event, wallClock: wallClock)
    switch format {
    case .text: return line.text
    case .json: return line.json
    case .quiet: return nil
    }
  }

  /// The target has finished, though the event that tells it is missing.
  mutating func finish(_ subject: Subject) { entries[subject].isRunning = false }

  mutating func rename(_ subject: Subject, _ name: String) { entries[subject].name = name }

  /// - Parameter underWay: How many pings of each target have no verdict yet, for a summary while the run goes on; `nil`: it is
  ///   over.
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
    return "\(missingEvents) events are missing in these figures: this host was too slow to take them"
  }
}
