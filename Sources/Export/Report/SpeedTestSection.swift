import Coverage
import Store

/// The section of ``ReportPage`` on speed tests; empty when no part has any.
struct SpeedTestSection {
  private let report: Report
  /// The rows of the tables of figures.
  private let quantities: [SpeedTestQuantity]

  init(_ report: Report) {
    self.report = report
    let groups = report.parts.map(\.figures.speedTests.all)
    // Without coverage pings during any test, their rows would be empty.
    quantities = SpeedTestQuantity.allCases.filter { quantity in
      !quantity.isOfCoveragePings || groups.contains { $0.quantiles(of: quantity) != nil }
    }
  }

  var html: String {
    guard report.parts.contains(where: { !$0.figures.speedTests.isEmpty }) else { return "" }
    return """
      <h2>Speed tests\(report.note(.speedTests))</h2>
      \(zip(report.heads, report.parts).map(counts).joined(separator: "\n"))
      \(comparison)
      \(report.parts.count == 1 ? report.parts.map { spreads($0.figures.speedTests.all) }.joined() : sides)
      \(technologies)
      """
  }

  private func counts(_ head: String, _ part: Report.Part) -> String {
    let group = part.figures.speedTests.all
    let title = report.parts.count > 1 ? Markup.escaped(head) + ": " : ""
    let others = others(part.figures.speedTests)
    guard group.tests > 0 else {
      return "<p>\(title)no speed test\(others.isEmpty ? "" : " on a mobile network").\(others)</p>"
    }
    return """
      <p>\(title)\(counted(group.tests, "test")), \(group.count(.completed)) completed (\(percent(group.completed))), \
      \(group.count(.failed)) failed, \(group.count(.aborted)) aborted; unsuccessful ratio \(percent(group.unsuccessful)).\
      \(group.interrupted > 0 ? " Of the completed tests, \(group.interrupted) were interrupted." : "")\(others)</p>
      """
  }

  /// The numbers of tests on other links than mobile networks, in a sentence; empty without any.
  private func others(_ summary: SpeedTestSummary) -> String {
    guard !summary.otherLinks.isEmpty else { return "" }
    let numbers = summary.otherLinks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.tests)" }
    let sum = summary.otherLinks.values.reduce(0) { $0 + $1.tests }
    let more = summary.all.tests > 0 ? " more" : ""
    return " \(sum)\(more) on other links (\(numbers.joined(separator: ", "))): last rows of the second table only."
  }

  private func percent(_ share: Double?) -> String { Markup.percent(share.map { $0 * 100 }) }

  /// The distribution of each figure, for a report of one part.
  private func spreads(_ group: SpeedTestGroup) -> String {
    let rows = quantities.map { quantity in
      let (quantiles, text) = (group.quantiles(of: quantity), quantity.text)
      return [
        quantity.title, "\(quantiles?.count ?? 0)", text(quantiles?.median.value),
        Markup.interval(quantiles?.median.lower, quantiles?.median.upper, text) ?? "–",
        text(quantiles?.tenth), text(quantiles?.ninetieth), text(quantiles?.least), text(quantiles?.greatest),
      ]
    }
    return Markup.table(
      "Completed tests",
      [
        "", "tests", "median", "95 % interval", "10th percentile", "90th percentile", "minimum", "maximum",
      ], rows)
  }

  /// The two selections side by side, without the range.
  private var sides: String {
    let rows = quantities.map { quantity in
      let text = quantity.text
      return [quantity.title]
        + report.parts.flatMap { part in
          let quantiles = part.figures.speedTests.all.quantiles(of: quantity)
          return [
            text(quantiles?.median.value),
            Markup.interval(quantiles?.median.lower, quantiles?.median.upper, text) ?? "–",
            "\(text(quantiles?.tenth)), \(text(quantiles?.ninetieth))",
          ]
        }
    }
    let heads = report.heads.flatMap { ["\(Markup.escaped($0)): median", "95 % interval", "10th, 90th percentile"] }
    return Markup.table("Completed tests", [""] + heads, rows)
  }

  /// Numbers and medians by technology, then those of other links, the parts below each other; without the increases.
  private var technologies: String {
    let shown = quantities.filter { ![.downloadIncrease, .uploadIncrease].contains($0) }
    func row(_ name: String, _ group: (SpeedTestSummary) -> SpeedTestGroup?) -> [[String]] {
      report.rows(name) {
        group($0.figures.speedTests)
      } _: { group in
        ["\(group.tests)", "\(group.count(.completed))", percent(group.unsuccessful)]
          + shown.map { $0.text(group.quantiles(of: $0)?.median.value) }
      }
    }
    let links = Set(report.parts.flatMap { $0.figures.speedTests.otherLinks.keys }).sorted()
    let rows =
      Reception.allCases.flatMap { reception in row(reception.name) { $0.byTechnology[reception] } }
      + links.flatMap { link in row(link) { $0.otherLinks[link] } }
    return Markup.table(
      "Medians by technology and by other link: data rates in Mbit/s, ping and delays in ms",
      ["", "tests", "completed", "unsuccessful"] + shown.map(\.head), rows)
  }

  /// The result of the statistical tests in words, or why there is none.
  private var comparison: String {
    guard let comparison = report.speedTests else { return "" }
    guard comparison.shared == 0 else {
      return """
        <p>No test of the difference\(report.note(.speedTestComparison)): \(comparison.shared) of the tests are in both selections.</p>
        """
    }
    let shares = SpeedTestComparison.quantities.map { quantity in
      guard let test = comparison.tests[quantity] else {
        return "\(quantity.name): no test"
      }
      return "\(quantity.name) \(percent(test.secondIsGreater))"
    }
    return """
      <p>Pairs of tests in which the second is greater\(report.note(.speedTestComparison)): \(shares.joined(separator: ", ")). \
      Verdicts: <em>Comparison</em>, above.</p>
      """
  }
}

extension SpeedTestQuantity {
  fileprivate var name: String {
    switch self {
    case .download: "download"
    case .upload: "upload"
    case .ping: "ping"
    case .idleDelay: "idle delay"
    case .downloadDelay: "delay under download"
    case .uploadDelay: "delay under upload"
    case .downloadIncrease: "increase under download"
    case .uploadIncrease: "increase under upload"
    }
  }

  /// A name for the narrow columns of a table of delays.
  fileprivate var head: String { name.hasPrefix("delay ") ? String(name.dropFirst(6)) : name }

  fileprivate var title: String { "\(name), \(isRate ? "Mbit/s" : "ms")" }

  /// A value with the decimals of its unit; `–` for none.
  fileprivate func text(_ value: Int64?) -> String {
    Markup.number(value.map { Double($0) / 1000 }, isRate ? 2 : 1)
  }
}
