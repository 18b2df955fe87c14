import Coverage

/// The tables of a report by technology, by link and by the user's areas: pings and failed ones with the share and its interval, delays, and
/// the share of the distance without an answer; and the table of signal and cells by band.
struct GroupSection {
  private let report: Report
  /// The most names of a table.
  private let most: Int

  init(_ report: Report) { (self.report, most) = (report, report.mostRows) }

  var html: String {
    let rest = report.note(.groups) + OriginSection.reference(report)
    return [
      table("Pings and delay by technology\(rest)", \.technologies, least: 1),
      // A single link is what all other tables show.
      table("Pings and delay by link\(rest)", \.links, least: 2),
      table("Pings and delay by area\(rest)", \.areas, least: 1),
      bands,
    ].joined()
  }

  /// Columns without a value in any row are left out.
  private var bands: String {
    func median(_ levels: Distribution) -> String? {
      levels.value(atPercentile: 50).map { Markup.number(Double($0) / 10, 1) }
    }
    let all: [(head: String, text: (BandGroups.Row) -> String?)] = [
      ("fences", { "\($0.fences)" }), ("time", { Markup.time($0.microseconds) }),
      ("signal, median dBm", { median($0.signal) }), ("RSSI where no RSCP, median dBm", { median($0.rssi) }),
      ("5G beside LTE, median dBm", { median($0.secondarySignal) }),
      ("carriers, most often", { $0.carriers.mostFrequent.map { "\($0.value) in \(counted($0.times, "fence"))" } }),
      ("neighbours, mean", { $0.neighbours.mean.map { Markup.number($0, 1) } }),
      ("strongest neighbour, median dBm", { median($0.strongest) }),
      (
        "timing advance",
        {
          $0.timingAdvance.range.map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
          }
        }
      ),
    ]
    let parts = report.parts.map(\.figures.breakdown.bands)
    let shown = all.filter { column in parts.contains { $0.rows.contains { column.text($0.row) != nil } } }
    let keys = BandGroups.keys(of: parts)
    let rows = keys.prefix(most).flatMap { key in
      report.rows(key.name) { part in
        part.figures.breakdown.bands.rows.first { $0.key == key }?.row
      } _: { row in
        shown.map { $0.text(row) ?? "–" }
      }
    }
    return rows.isEmpty
      ? ""
      : Markup.table(
        "Signal and cells by band\(report.note(.bands))\(OriginSection.reference(report))",
        [""] + shown.map(\.head), rows, more: max(0, keys.count - most) * report.parts.count)
  }

  /// - Parameter least: With fewer groups there is no table.
  private func table(_ caption: String, _ groups: KeyPath<Breakdown, FenceGroups>, least: Int) -> String {
    let ofParts = report.parts.map { $0.figures.breakdown[keyPath: groups] }
    let names = FenceGroups.names(of: ofParts)
    guard names.count >= least else { return "" }
    return Markup.table(
      caption,
      [
        "", "fences", "measured km", "without answer, of distance", "pings", "failed", "failed, share", "mean ms",
        "median ms",
        "95th percentile ms",
      ],
      names.prefix(most).flatMap { name in
        // In Coverage by technology, these fences are in the row of no answer.
        let isSilent =
          groups == \.technologies && name == Reception.unknown.name
          && ofParts.allSatisfy { $0[name]?.sums.answered ?? 0 == 0 }
        return report.rows(isSilent ? "\(Reception.noAnswer.name), \(name)" : name) { part in
          part.figures.breakdown[keyPath: groups][name]
        } _: { group in
          let (metres, silent, sums) = (group.metres.measured, group.silentShare, group.sums)
          return [
            "\(group.fences)", Markup.number(metres / 1000, 2),
            Markup.percent(silent.map { $0 * 100 }) + Markup.interval(group.silence, exists: silent != nil),
            "\(sums.pings)", "\(sums.lost)",
            Markup.percent(sums.loss.map { $0 * 100 }) + Markup.interval(group.loss, exists: sums.loss != nil),
            Markup.milliseconds(sums.meanMicroseconds), Markup.milliseconds(group.delays.value(atPercentile: 50)),
            Markup.milliseconds(group.delays.value(atPercentile: 95)),
          ]
        }
      }, more: max(0, names.count - most) * report.parts.count)
  }
}
