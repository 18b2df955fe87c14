import OrderedJSON
import Pinging

/// What a run of pings has seen so far, target by target, and what is to be said of it. A pure value.
struct PingLedger {
  typealias Subject = Int

  private struct Entry {
    var name: String
    var statistics = PingStatistics()
    var isRunning = true
  }

  private let format: PingRun.Format
  private var entries: [Entry]
  /// Events that were dropped because the reader was too slow. They may have been of any target.
  private(set) var missingEvents: UInt64 = 0

  init(names: [String], format: PingRun.Format) {
    entries = names.map { Entry(name: $0) }
    self.format = format
  }

  /// Targets that have not finished.
  var running: [Subject] { entries.indices.filter { entries[$0].isRunning } }
  var isRunning: Bool { entries.contains(where: \.isRunning) }
  var haveAllReplied: Bool { entries.allSatisfy { $0.statistics.replies > 0 } }

  /// - Parameter subject: Whose event it is; `nil`: nobody's, as events that tell of others being missing.
  /// - Returns: The line about it, where one is wanted.
  mutating func take(_ event: PingEvent, of subject: Subject?) -> String? {
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
    let line = PingLine(name: entries[subject].name, event: event)
    switch format {
    case .text: return line.text
    case .json: return line.json
    case .quiet: return nil
    }
  }

  /// The target has finished, though the event that tells it is missing.
  mutating func finish(_ subject: Subject) { entries[subject].isRunning = false }

  mutating func rename(_ subject: Subject, _ name: String) { entries[subject].name = name }

  func summaries(isInterim: Bool) -> [String] {
    var lines = entries.map { entry in
      let summary = PingSummary(name: entry.name, statistics: entry.statistics, isInterim: isInterim)
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
