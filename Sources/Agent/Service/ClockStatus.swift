import Coverage
import Driving
import OrderedJSON
import Submission

/// Which clock the times come from, for `status` (docs/clock.md).
struct ClockStatus: Sendable {
  let ruling: ClockRuling
  /// By how much the host's clock is ahead of the time that rules; `nil` when it could not be read.
  let hostAhead: Duration?

  init(ruling: ClockRuling, hostAhead: Duration?) { (self.ruling, self.hostAhead) = (ruling, hostAhead) }

  init(_ reading: Timekeeper.Reading) { self.init(ruling: reading.ruling, hostAhead: reading.hostLead) }

  /// With the keys of a drive log's `clock` lines.
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

  /// For a person, e.g. `time: gnss rules, two clocks agree (gnss, server); host contradicts; the host's clock is 3600 s ahead`.
  var line: String {
    guard ruling.isTrusted else { return "the clock is not set: nothing is measured or sent" }
    let offset = hostAhead?.inSeconds ?? 0
    // Readings of two clocks differ by less.
    guard abs(offset) >= 2 else { return "time: \(ruling)" }
    let seconds = DriveStatus.decimal(abs(offset), places: 0)
    return "time: \(ruling); the host's clock is \(seconds) s \(offset > 0 ? "ahead" : "behind")"
  }
}
