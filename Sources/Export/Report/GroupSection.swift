import Coverage

/// The tables of a report by technology, by link and by the user's areas: pings and failed ones with the share and its interval, delays, and
/// the share of the distance without an answer; and the table of signal and cells by band.
struct GroupSection {
  let report: Report

  var html: String { report.parts.map(tables).joined(separator: "\n") }

  private func tables(_ part: Report.Part) -> String {
    let groups = part.figures.breakdown
    let title = report.parts.count > 1 ? ": \(Markup.escaped(part.title))" : ""
    let rest = Markup.note(.groups) + OriginSection.reference([part])
    return [
      groups.technologies.rows.isEmpty
        ? "" : table("Pings and delay by technology\(title)\(rest)", groups.technologies),
      // A single link is what all other tables show.
      groups.links.rows.count > 1 ? table("Pings and delay by link\(title)\(rest)", groups.links) : "",
      groups.areas.rows.isEmpty ? "" : table("Pings and delay by area\(title)\(rest)", groups.areas),
      groups.bands.rows.isEmpty
        ? ""
        : bands(
          "Signal and cells by band\(title)\(Markup.note(.bands))\(OriginSection.reference([part]))", groups.bands.rows),
    ].joined()
  }

  /// Columns without a value in any row are left out.
  private func bands(_ caption: String, _ rows: [(key: BandGroups.Key, row: BandGroups.Row)]) -> String {
    func median(_ levels: Distribution) -> String? {
      levels.value(atPercentile: 50).map { Markup.number(Double($0) / 10, 1) }
    }
    let all: [(head: String, text: (BandGroups.Row) -> String?)] = [
      ("fences", { "\($0.fences)" }), ("time", { Markup.time($0.microseconds) }),
      ("signal, median dBm", { median($0.signal) }), ("5G beside LTE, median dBm", { median($0.secondarySignal) }),
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
    let shown = all.filter { column in rows.contains { column.text($0.row) != nil } }
    return Markup.table(
      caption, [""] + shown.map(\.head),
      rows.map { key, row in [Markup.escaped(key.name)] + shown.map { $0.text(row) ?? "–" } })
  }

  private func table(_ caption: String, _ groups: FenceGroups) -> String {
    Markup.table(
      caption,
      [
        "", "fences", "measured km", "without answer, of distance", "pings", "failed", "failed, share", "mean ms",
        "median ms",
        "95th percentile ms",
      ],
      groups.rows.map { name, group in
        let (metres, silent, sums) = (group.metres.measured, group.silentShare, group.sums)
        return [
          Markup.escaped(name), "\(group.fences)", Markup.number(metres / 1000, 2),
          Markup.percent(silent.map { $0 * 100 }) + Markup.interval(group.silence, exists: silent != nil),
          "\(sums.pings)", "\(sums.lost)",
          Markup.percent(sums.loss.map { $0 * 100 }) + Markup.interval(group.loss, exists: sums.loss != nil),
          Markup.milliseconds(sums.meanMicroseconds), Markup.milliseconds(group.delays.value(atPercentile: 50)),
          Markup.milliseconds(group.delays.value(atPercentile: 95)),
        ]
      })
  }
}
