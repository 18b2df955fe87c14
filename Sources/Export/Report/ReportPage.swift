import Coverage

/// The report as one HTML page without scripts and without anything from elsewhere, which its Content-Security-Policy
/// enforces. Texts of users go through ``Markup/escaped(_:)``.
public struct ReportPage {
  private let report: Report
  private let ground: SketchGround?

  /// - Parameter ground: Below its maps; `nil`: none.
  public init(_ report: Report, over ground: SketchGround? = nil) { (self.report, self.ground) = (report, ground) }

  public var html: String {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'\(ground == nil ? "" : "; img-src data:")">
    <title>Coverage report</title>
    <style>
    \(ReportStyle.css)
    @page { @bottom-left { content: "\(foot)" } }
    </style></head><body>
    <main\(report.parts.count > 1 ? " class=\"compared\"" : "")>
    <h1>Coverage report</h1>
    \(zip(report.heads, report.parts).map(heading).joined(separator: "\n"))
    <p>A device sent pings to a server along the road. A <em>fence</em> is a circle on the ground with the pings that were sent in it; a ping \
    without an answer in time is lost. Small figures below another one are its 95 % interval.</p>
    \(OriginSection(report: report).facts)
    \(report.parts.count == 1 ? report.parts.map(tiles).joined() : "")
    \(ComparisonSection(report: report).html)
    \(ChartSection(report: report, ground: ground).html)
    <h2>Coverage by technology</h2>
    \(coverage)
    \(GroupSection(report).html)
    <h2>Delay, loss and outages</h2>
    <div class="columns">\(delay)\(loss)<div><h2>Quality of the data</h2>
    \(quality)</div></div>
    \(SpeedTestSection(report).html)
    <h2>Worst stretches of about \(Int(Stretch.length)) m\(report.note(.worst))</h2>
    <p class="soft">Filled circles: answered, green below a mean of 120 ms, else orange; dashed red rings: no answer; thin \
    grey rings: not measured. Time and place are those of the start; the length is from the first to the last centre.</p>
    \(report.parts.map(stretches).joined(separator: "\n"))
    \(OriginSection(report: report).sources)
    <h2>How the figures are computed</h2>
    <ol>
    \(notes)
    </ol>
    </main></body></html>

    """
  }

  /// The foot of each page of paper, for a string of CSS: program, time and store.
  private var foot: String {
    let store = report.parts.first?.provenance?.storeID.map { "store \($0)" }
    return ["\(Program.name) \(Program.version)", report.origin.made.map(Markup.moment), store].compactMap { $0 }
      .joined(separator: ", ").filter { $0.isASCII && ($0.isLetter || $0.isNumber || " .,:-+".contains($0)) }
  }

  /// The heads of a table with a column for each part.
  private var heads: [String] { [""] + report.heads.map(Markup.escaped) }

  /// What a table with a column for each part rests on.
  private var origin: String { OriginSection.reference(report) }

  /// A row of a table: its name, and a value for each part.
  private func row(_ name: String, _ value: (ReportFigures) -> String) -> [String] {
    [name] + report.parts.map { value($0.figures) }
  }

  /// The same of figures with an interval.
  private func estimatedRow(_ name: String, _ value: (Report.Part) -> String) -> [String] {
    [name] + report.parts.map(value)
  }

  private func heading(_ name: String, _ part: Report.Part) -> String {
    let figures = part.figures
    let links = figures.breakdown.links.rows.count
    let speedTests = figures.speedTests.isEmpty ? "" : ", speed tests: \(figures.speedTests.all.tests)"
    let period = figures.period.map { "\(Markup.moment($0.lowerBound)) to \(Markup.moment($0.upperBound)), " } ?? ""
    return """
      <p><strong>\(Markup.escaped(name == part.title ? name : "\(name): \(part.title)"))</strong></p>
      <p class="soft">\(period)\(counted(figures.shares.total.fences, "fence")), \(counted(figures.sums.pings, "ping")), \
      drives: \(figures.shares.drives)\(links > 1 ? ", links: \(links)" : ""), drive logs: \(figures.logged.logs)\(speedTests)\(equipment(figures))</p>
      """
  }

  /// Up to three modems, so that the page stays one: JSON has all of them. Of several, each has the sessions that it measured.
  private func equipment(_ figures: ReportFigures) -> String {
    let equipment = figures.breakdown.facts.equipment
    let more = equipment.count > 3 ? "; and \(equipment.count - 3) more" : ""
    let words = equipment.prefix(3).map {
      Markup.escaped(ForeignText.clean($0.used.words, limit: 400))
        + (equipment.count > 1 ? " (\(OriginSection.words($0.sessions)))" : "")
    }
    return words.isEmpty ? "" : "<br>measured with \(words.joined(separator: "<br>and "))\(more)"
  }

  /// The four figures at the top of a report of one part.
  private func tiles(_ part: Report.Part) -> String {
    let figures = part.figures
    let shares = CoverageShares.Percentages(figures.shares.covered, of: figures.shares.measured)
    func delay(_ percent: Int) -> String {
      part.percentile(percent).map { Markup.milliseconds($0.value) + " ms" } ?? "–"
    }
    let kind = figures.delays == .medians ? " of fences" : ""
    let tiles = [
      (
        "measured distance with coverage", Markup.percent(shares.way),
        Markup.interval(part.coverage?.estimate, exists: shares.way != nil)
      ),
      ("median delay\(kind)", delay(50), interval(part, part.percentile(50))),
      ("95th percentile\(kind)", delay(95), interval(part, part.percentile(95))),
      ("loss", Markup.percent(figures.sums.loss.map { $0 * 100 }), lossInterval(part)),
    ]
    return "<dl class=\"tiles\">"
      + tiles.map { "<div><dt>\($0.0)</dt><dd>\($0.1)\($0.2)</dd></div>" }.joined() + "</dl>"
  }

  /// The interval of the loss; its samples are fences where a log is missing.
  private func lossInterval(_ part: Report.Part) -> String {
    Markup.interval(
      part.loss, exists: part.figures.sums.loss != nil, part.figures.hasAllLogs ? "" : ", over fences")
  }

  /// The interval of a percentile on a line of its own.
  private func interval(_ part: Report.Part, _ found: Percentile?) -> String {
    guard let found else { return "" }
    guard part.figures.delays == .singlePings else { return Markup.noLog }
    return Markup.interval(found.lower, found.upper, Markup.milliseconds).map(Markup.below) ?? Markup.notEnough
  }

  /// A table with a row for each reception that occurs, then those with coverage together, all that was measured, and all. Shares are of
  /// what was measured.
  private var coverage: String {
    func rows(
      _ name: String, of all: KeyPath<CoverageShares, CoverageShares.Part>? = \.measured,
      interval: @escaping (Report.Part) -> String = { _ in "" }, _ value: (CoverageShares) -> CoverageShares.Part?
    ) -> [[String]] {
      report.rows(name) { part in
        value(part.figures.shares).map { (part, $0) }
      } _: { part, value in
        let measured = all.map { part.figures.shares[keyPath: $0] } ?? CoverageShares.Part()
        let shares = CoverageShares.Percentages(value, of: measured)
        return [
          Markup.number(value.metres / 1000, 2), Markup.percent(shares.way) + interval(part),
          Markup.time(value.microseconds),
          Markup.percent(shares.time), "\(value.pings)", Markup.percent(shares.pings),
        ]
      }
    }
    return Markup.table(
      "Distance, time and pings" + report.note(.coverage) + origin,
      ["", "distance km" + report.note(.way), "of distance", "time", "of time", "pings", "of pings"],
      Reception.allCases.flatMap { reception in
        rows(reception.name, of: reception.isMeasured ? \.measured : nil) { $0.parts[reception] }
      }
        + rows(
          "with coverage",
          interval: { Markup.interval($0.coverage?.estimate, exists: $0.figures.shares.measured.metres > 0) },
          \.covered)
        + rows("measured", \.measured) + rows("all", of: nil, \.total))
  }

  private var delay: String {
    let rows = [50, 75, 90, 95, 99].map { percent in
      estimatedRow("\(percent)th percentile") { part in
        guard let found = part.percentile(percent) else { return "–" }
        return Markup.milliseconds(found.value) + (part.figures.delays == .singlePings ? interval(part, found) : "")
      }
    }
    let withLogs = report.parts.count { $0.figures.delays == .singlePings }
    let intervals =
      withLogs == report.parts.count
      ? ", with 95 % intervals"
      : withLogs == 0 ? "; no intervals: a drive log is missing" : ", with 95 % intervals where drive logs are there"
    return Markup.table(
      "Round-trip delay in ms\(intervals)\(report.note(.delay))\(report.note(.interval))\(origin)", heads,
      rows + [
        estimatedRow("mean") { part in
          Markup.milliseconds(part.figures.sums.meanMicroseconds)
            + (part.mean.map {
              Markup.below(
                [$0.lower, $0.upper].map { Markup.milliseconds(Int64(exactly: $0.rounded())) }.joined(separator: " to ")
              )
            }
              ?? (part.figures.delays != .singlePings
                ? "" : part.figures.hasAllLogs ? Markup.notEnough : Markup.noLog))
        },
        estimatedRow("percentiles over") { part in
          // Values that swing can be worth more than their number: it would look like a mistake.
          let worth = part.percentile(50)?.effective.flatMap { $0 < Double(part.figures.delayCount) ? $0 : nil }.map {
            Markup.below("as exact as \(Markup.number($0, 0)) independent ones")
          }
          let kinds: [DelayPopulation: String] = [
            .singlePings: "single pings\(worth ?? "")", .bins: "pings, by bins of delay",
            .medians: "pings, by medians of fences",
          ]
          return "\(part.figures.delayCount) \(kinds[part.figures.delays] ?? "")"
        },
        row("delay variation, median\(report.note(.variation))") {
          Markup.milliseconds($0.logged.variations.value(atPercentile: 50))
        },
        row("delay variation, 95th percentile") {
          Markup.milliseconds($0.logged.variations.value(atPercentile: 95))
        },
      ])
  }

  private var loss: String {
    Markup.table(
      "Loss and outages\(report.note(.loss))\(report.note(.outages))\(origin)", heads,
      [
        row("pings sent") { "\($0.sums.pings)" },
        row("lost") { "\($0.sums.lost)" },
        estimatedRow("loss\(report.note(.interval))") { part in
          Markup.percent(part.figures.sums.loss.map { $0 * 100 }) + lossInterval(part)
        },
        row("answered too late") { "\($0.sums.late)" },
        row("answered twice") { "\($0.sums.duplicates)" },
        row("not measured: not sent, or nothing listened") { "\($0.sums.unsent)" },
        row("sent outside of all fences; paused on Wi-Fi") {
          $0.logged.logs > 0 ? "\($0.logged.unassigned.outside); \($0.logged.unassigned.paused)" : "–"
        },
        row("longest run of lost pings") { $0.logged.logs > 0 ? "\($0.logged.longestLoss)" : "–" },
        row("outages of 1 s or more") { seen($0, "\($0.outages.count)") },
        row("their time") { seen($0, Markup.shortTime($0.outages.microseconds)) },
        row("longest outage") { figures in
          guard let longest = figures.outages.longest else { return "–" }
          return """
            \(seen(figures, Markup.shortTime(longest.microseconds)))<br><span class="soft">\(Markup.moment(longest.began))\(on(longest.link))\
            \(longest.place.map { "<br>\(place($0))" } ?? "")</span>
            """
        },
      ])
  }

  private func on(_ link: String?) -> String { link.map { ", \(Markup.escaped($0))" } ?? "" }

  /// Fences show only some of the outages.
  private func seen(_ figures: ReportFigures, _ value: String) -> String {
    guard figures.hasOutagesOfFences else { return value }
    return figures.outages.count > 0 ? "at least \(value)" : "none seen"
  }

  private func place(_ place: Coordinate) -> String {
    "\(Markup.number(place.latitude, 5))°, \(Markup.number(place.longitude, 5))°"
  }

  /// A small map with a caption for each of the worst stretches.
  private func stretches(_ part: Report.Part) -> String {
    let figures = part.figures.stretches.worst.enumerated().map { index, stretch in
      """
      <figure>\(StretchMap(stretch: stretch).svg(over: ground))<figcaption>\(index + 1): \(Markup.number(stretch.score / 1e6, 1)) ms with losses as \
      1 s; \(stretch.sums.lost) of \(stretch.sums.pings) pings lost on \
      \(stretch.isLong ? "" : "only ")\(Markup.number(stretch.metres, 0)) m<br>\(Markup.moment(stretch.began))\(on(stretch.link))<br>\
      \(stretch.fences.first.map { place($0.centre) } ?? "")</figcaption></figure>
      """
    }
    return """
      \(report.parts.count > 1 ? "<p>\(Markup.escaped(part.title))</p>" : "")<div class="maps">\(figures.joined())</div>
      """
  }

  private var quality: String {
    Markup.table(
      "Positions, clocks and stamps\(report.note(.quality))\(origin)", heads,
      [
        row("accuracy in m: 50th, 90th, 95th, 99th percentile") { figures in
          [50, 90, 95, 99].map {
            Markup.number(figures.quality.accuracies.value(atPercentile: $0).map { Double($0) / 1000 }, 1)
          }
          .joined(separator: ", ")
        },
        row("gaps between fences") { "\($0.quality.gaps), \(Markup.time($0.quality.gapMicroseconds)) together" },
        row("longest gap") { Markup.time($0.quality.longestGap) },
        row("positions; refused; lost") { figures in
          let receiver = figures.logged.receiver
          return figures.logged.logs > 0 ? "\(receiver.fixes); \(receiver.refused); \(receiver.lost)" : "–"
        },
        row("clock steps") { figures in
          let receiver = figures.logged.receiver
          return figures.logged.logs > 0
            ? "\(receiver.clockSteps), \(Markup.time(receiver.clockStepMicroseconds)) together" : "–"
        },
        row("pings with kernel stamps") { figures in
          Markup.percent(
            figures.logged.delays.count > 0
              ? Double(figures.logged.kernelStamped) / Double(figures.logged.delays.count) * 100 : nil)
        },
      ])
  }

  /// The list of the footnotes. Parts over different kinds of delays have two texts in one footnote.
  private var notes: String {
    report.methods.enumerated().map { index, method in
      let texts = Set(report.parts.map { method.text(over: $0.figures.delays) }).sorted()
      return "<li id=\"n\(index + 1)\">\(Markup.escaped(texts.joined(separator: " Or: ")))</li>"
    }.joined(separator: "\n")
  }
}
