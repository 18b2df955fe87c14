import Coverage
import Driving
import OrderedJSON
import Store

/// The statistics of one target, as text and as JSON.
struct PingSummary {
  let name: String
  let statistics: PingStatistics
  /// Pings still without a verdict, which are not in the counts; `nil` in the final summary.
  let underWay: UInt64?

  // MARK: Text

  var text: String {
    let counts = statistics
    let longest = counts.outages.longest.map(\.nanoseconds).max().map {
      PingVerdictLine.milliseconds(Int64(clamping: $0))
    }
    let lines: [String?] = [
      "\(name): \(counts.left) sent, \(counts[.answered]) answered, \(losses)" + inFlight + rare,
      Self.line(counts.roundTrip).map { "  round trip  \($0)" },
      counts.hopLimits.map { "  TTL         \($0.lowerBound)" + ($0.count == 1 ? "" : " to \($0.upperBound)") },
      Self.line(counts.variation).map { "  variation   \($0)" },
      Self.line(counts.variationUp).map { "  up          \($0)" },
      Self.line(counts.variationDown).map { "  down        \($0)" },
      longest.map { "  \(counted(counts.outages.count, "outage")), the longest \($0)" },
      counts.outages.current.map { "  no answer since ping \($0.first)" },
    ]
    return lines.compactMap { $0 }.joined(separator: "\n")
  }

  private var losses: String {
    let lost = statistics[.lost] + statistics[.unreachable]
    let unreachable = statistics[.unreachable] - statistics[.ttlExceeded]
    let reasons = [(unreachable, "unreachable"), (statistics[.ttlExceeded], "with exceeded TTL")]
      .filter { $0.0 > 0 }.map { "; \($0.0) of them \($0.1)" }.joined()
    let share = statistics.loss.map { " (\(DecimalText.of($0 * 100, places: 1)) %\(reasons))" } ?? ""
    let ways =
      statistics[.lostUp] + statistics[.lostDown] > 0
      ? ", \(statistics[.lostUp]) up, \(statistics[.lostDown]) down" : ""
    return "\(lost) lost\(share)\(ways)"
  }

  private var inFlight: String { underWay.map { ", \($0) in flight" } ?? "" }

  /// Counts that are usually 0, and are shown only if they are not.
  private var rare: String {
    let words: [(PingStatistics.Count, String)] = [
      (.refused, "refused"), (.notSent, "not sent"), (.cancelled, "without an answer when it ended"),
      (.elsewhere, "answered from another address"), (.late, "late"), (.duplicates, "duplicate"),
      (.reordered, "out of order"), (.corrupt, "corrupt"), (.missingStamps, "without the kernel's stamps"),
      (.absurdStamps, "with absurd stamps"), (.clockSteps, "while the clock was set"),
    ]
    return words.filter { statistics[$0.0] > 0 }.map { ", \(statistics[$0.0]) \($0.1)" }.joined()
  }

  /// - Returns: `nil` without values.
  private static func line(_ histogram: DurationHistogram) -> String? {
    guard let mean = histogram.mean else { return nil }
    var parts = ["min \(PingVerdictLine.milliseconds(histogram.least))", "mean \(PingVerdictLine.milliseconds(mean))"]
    for percent in [50.0, 95, 99] {
      parts.append("p\(Int(percent)) \(histogram.percentile(percent).map(PingVerdictLine.milliseconds) ?? "-")")
    }
    parts.append("max \(PingVerdictLine.milliseconds(histogram.greatest))")
    return parts.joined(separator: "  ")
  }

  // MARK: JSON

  var json: String {
    let counts = statistics
    let figures: JSON = .object(
      JSON.members([
        "target": .string(name), "sent": .integer(Int64(counts.sent)),
        "in_flight": underWay.map { .integer(Int64(clamping: $0)) },
      ])
        + PingStatistics.Count.allCases.map { JSON.Member($0.name, .integer(Int64(counts[$0]))) }
        + JSON.members([
          "loss": counts.loss.map(JSON.number),
          "rtt_ms": Self.json(counts.roundTrip),
          "ttl": counts.hopLimits.map {
            .object(["min": .integer(Int64($0.lowerBound)), "max": .integer(Int64($0.upperBound))])
          },
          "ipdv_ms": Self.json(counts.variation),
          "ipdv_up_ms": Self.json(counts.variationUp),
          "ipdv_down_ms": Self.json(counts.variationDown),
          "outages": .array(outages),
        ]))
    return JSON.object([JSON.Member(underWay == nil ? "summary" : "interim", figures)]).text
  }

  /// The longest ended outages in the order of time, and the outage under way.
  private var outages: [JSON] {
    var outages = statistics.outages.longest.map { outage -> JSON in
      .object([
        "first_ping": .integer(Int64(outage.first)),
        "from_ns": .integer(Int64(clamping: outage.from)),
        "pings": .integer(Int64(outage.pings)),
        "length_ms": .milliseconds(nanoseconds: Int64(clamping: outage.nanoseconds)),
      ])
    }
    if let current = statistics.outages.current {
      outages.append(
        .object([
          "first_ping": .integer(Int64(current.first)), "from_ns": .integer(Int64(clamping: current.from)),
          "pings": .integer(Int64(current.pings)), "open": true,
        ]))
    }
    return outages
  }

  private static func json(_ histogram: DurationHistogram) -> JSON? {
    guard let mean = histogram.mean else { return nil }
    return .object([
      "min": .milliseconds(nanoseconds: histogram.least),
      "mean": .milliseconds(nanoseconds: mean),
      "p50": histogram.percentile(50).map(JSON.milliseconds(nanoseconds:)),
      "p95": histogram.percentile(95).map(JSON.milliseconds(nanoseconds:)),
      "p99": histogram.percentile(99).map(JSON.milliseconds(nanoseconds:)),
      "max": .milliseconds(nanoseconds: histogram.greatest),
    ])
  }
}
