/// The section of ``ReportPage`` on differences between two selections; empty for one selection.
struct ComparisonSection {
  let report: Report

  var html: String {
    guard let result = report.comparison else { return "" }
    let heads = [""] + report.heads.map(Markup.escaped)
    return "<h2>Comparison</h2><p>\(summary)</p>"
      + Markup.table(
        "Second less first\(report.note(.comparison))",
        ["", "verdict", "difference", "95 % interval", "p", "p for all tests", "least that matters"],
        report.findings.map(row))
      + Markup.table(
        "The same places", heads,
        [
          [
            "places of \(Markup.number(report.placeMetres, 0)) m; \(result.places.matched) are matched",
            "\(result.places.first)", "\(result.places.second)",
          ]
        ]
          + (result.places.matched == 0
            ? []
            : [
              ["mean delay there, ms"]
                + result.sums.map { Markup.milliseconds($0.mean.flatMap { Int64(exactly: ($0 / 1e3).rounded()) }) },
              ["loss there"] + result.sums.map { Markup.percent($0.loss.map { $0 * 100 }) },
            ]))
  }

  /// The findings by verdict, in sentences.
  private var summary: String {
    ([Verdict.different, .tooSmall, .notShown, .notEnough].map(\.rawValue) + [Self.noPlace]).compactMap { verdict in
      let names = report.findings.filter { word($0) == verdict }.map { finding in
        guard finding.verdict == .different, let difference = finding.difference else { return finding.figure.name }
        let size = "\(Self.number(abs(difference.effect), finding.figure)) \(finding.figure.unit)"
        return "\(finding.figure.name) (the second is \(size) \(difference.effect < 0 ? "lower" : "higher"))"
      }
      guard let first = names.first else { return nil }
      let words = verdict.prefix(1).uppercased() + verdict.dropFirst()
      let list = names.dropFirst().reduce(first) { "\($0), \($1)" }
      return verdict == Verdict.different.rawValue ? "<strong>\(words): \(list).</strong>" : "\(words): \(list)."
    }.joined(separator: " ")
  }

  private static let noPlace = "no common place"

  /// The verdict, or the reason why there is no test.
  private func word(_ finding: Finding) -> String {
    [.delay, .loss].contains(finding.figure) && report.comparison?.places.matched == 0
      ? Self.noPlace : finding.verdict.rawValue
  }

  private func row(_ finding: Finding) -> [String] {
    let name = "\(finding.figure.name), \(finding.figure.unit)"
    let least = finding.least > 0 ? Self.number(finding.least, finding.figure) : "–"
    guard let difference = finding.difference, let corrected = finding.corrected else {
      return [name, word(finding), "–", "–", "–", "–", least]
    }
    let ends = [difference.lower, difference.upper].map { Self.number($0, finding.figure) }
    return [
      name, word(finding), Self.number(difference.effect, finding.figure), "\(ends[0]) to \(ends[1])",
      Markup.probability(difference.probability), Markup.probability(corrected), least,
    ]
  }

  private static func number(_ value: Double, _ figure: Finding.Figure) -> String {
    switch figure {
    case .delay, .ping: Markup.milliseconds(Int64(exactly: (value * 1000).rounded()))
    default: Markup.number(value, 2)
    }
  }
}

extension Finding.Figure {
  fileprivate var name: String {
    switch self {
    case .delay: "delay at the same places"
    case .loss: "loss at the same places"
    case .coverage: "distance with coverage"
    case .download: "download"
    case .upload: "upload"
    case .ping: "ping of speed tests"
    }
  }
}
