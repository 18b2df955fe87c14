import Coverage
import Driving
import OrderedJSON
import Submission

/// The selected clock for `status` (docs/clock.md).
struct ClockStatus: Sendable {
  /// Which clock is selected, and which ones agree with it or contradict it.
  let selection: ClockSelection
  /// How far the host's clock is ahead of the selected time; `nil` when the host's clock could not be read.
  let hostAhead: Duration?

  /// The keys are those of the `clock` lines in drive logs.
  var json: JSON {
    .object([
      "ruled_by": .string(selection.source.rawValue),
      "because": .string(selection.reason.rawValue),
      "confirmed": .bool(selection.isConfirmed),
      "agreeing": .array(selection.agreeing.map { .string($0.rawValue) }),
      "contradicting": .array(selection.contradicting.map { .string($0.rawValue) }),
      "host_ahead": hostAhead.map { .decimal(units: $0.inMicroseconds, places: 6) },
    ])
  }

  /// For an operator, e.g. `time: gnss rules, two clocks agree (gnss, server); host contradicts; the host's clock is
  /// 3600 s ahead`.
  var line: String {
    guard selection.isTrusted else { return "the clock is not set: nothing is sent" }
    let offset = hostAhead?.inSeconds ?? 0
    // A smaller difference is within the error of the readings.
    guard abs(offset) >= 2 else { return "time: \(selection)" }
    let seconds = DecimalText.of(abs(offset), places: 0)
    return "time: \(selection); the host's clock is \(seconds) s \(offset > 0 ? "ahead" : "behind")"
  }
}
