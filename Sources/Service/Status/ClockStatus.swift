import Coverage
import Driving
import OrderedJSON
import Submission

/// The ruling clock for `status` (docs/clock.md).
struct ClockStatus: Sendable {
  /// Which clock rules, and which ones agree with it or contradict it.
  let ruling: ClockRuling
  /// How far the host's clock is ahead of the ruling time; `nil` when the host's clock could not be read.
  let hostAhead: Duration?

  init(ruling: ClockRuling, hostAhead: Duration?) { (self.ruling, self.hostAhead) = (ruling, hostAhead) }

  init(_ reading: Timekeeper.Reading) { self.init(ruling: reading.ruling, hostAhead: reading.hostLead) }

  /// The keys are those of the `clock` lines in drive logs.
  var json: JSON {
    .object([
      "ruled_by": .string(ruling.source.rawValue),
      "because": .string(ruling.reason.rawValue),
      "confirmed": .bool(ruling.isConfirmed),
      "agreeing": .array(ruling.agreeing.map { .string($0.rawValue) }),
      "contradicting": .array(ruling.contradicting.map { .string($0.rawValue) }),
      "host_ahead": hostAhead.map { .decimal(units: $0.inMicroseconds, places: 6) },
    ])
  }

  /// For an operator, e.g. `time: gnss rules, two clocks agree (gnss, server); host contradicts; the host's clock is
  /// 3600 s ahead`.
  var line: String {
    guard ruling.isTrusted else { return "the clock is not set: nothing is measured or sent" }
    let offset = hostAhead?.inSeconds ?? 0
    // A smaller difference is within the error of the readings.
    guard abs(offset) >= 2 else { return "time: \(ruling)" }
    let seconds = DecimalText.of(abs(offset), places: 0)
    return "time: \(ruling); the host's clock is \(seconds) s \(offset > 0 ? "ahead" : "behind")"
  }
}
