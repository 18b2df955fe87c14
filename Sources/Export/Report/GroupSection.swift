import Coverage

/// The tables of a report by technology, by link and by the user's areas: pings and failed ones with the share and its interval, delays, and
/// the share of the distance without an answer.
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
    ].joined()
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
