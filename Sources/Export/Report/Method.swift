/// How each figure is computed: a footnote of the page, and `method` in JSON. The order of the cases is that of the
/// footnotes. docs/report.md has the same rules in short.
enum Method: String, CaseIterable {
  case charts, coverage, way, groups, delay, interval, variation, loss, outages, worst, quality, sources, comparison
  /// Only in reports with speed tests.
  case speedTests, speedTestComparison
  /// Only in reports whose modems told bands or other cells.
  case bands

  /// - Parameter delays: Only ``delay`` depends on it.
  func text(over delays: DelayPopulation = .singlePings) -> String {
    switch self {
    case .charts:
      """
      Map: cells of about 55 m, or larger ones for a long road; positions, and the user's own base map where the report has one. Distribution: answered pings of the fences' bins of \
      delay (at most 1/64 below the delay), by the technology on which a fence was for the longest time. Distance: as in the tables; drives one \
      after the other. Signal: the quantity in dBm that stands for the technology, median of each fence over its time, each fence once.
      """
    case .groups:
      """
      Samples are pings with an outcome, failed are those without an answer in time; each failed share has its 95 % interval (samples and \
      errors after ETSI TR 103 559). The interval counts fences as samples, by the variance of correlated values. All \
      pings of a fence count for the technology on which it was for the longest time, answered or not, and for the first area that contains its \
      centre: so fences without any answer, the row no answer of Coverage by technology, are here in the row of their technology, or in unknown technology. Without answer: share of the measured distance from fences in which no ping was answered. Distances and pings add up over links. Median and 95th percentile: \
      from bins, at most 1/64 below the delay.
      """
    case .sources:
      """
      All tables and charts but those of speed tests rest on these drives, sessions and drive logs; speed tests are in the store only. Each link of a drive has a row. The digest \
      is that of the log at the time of the report: head -c BYTES FILE | sha256sum gives it again. coverage-probe report --verify computes all \
      figures again from the logs.
      """
    case .coverage:
      """
      A fence has coverage when at least one ping that was sent in it was answered in time (after ETSI TS 102 250-2, service \
      availability). Not measured: fences without pings, or without an answer where Wi-Fi touched them or the probe could not measure, \
      and times of more than a second without a ping in a fence (where the drive log is there). Shares are of what was measured. Distance and time of a fence count by the share of its time on each \
      technology, as the modem reports it or radio.source has it, its pings and the fence itself for the longest; without such a report all for the technology at \
      the last accurate position. Pings that were sent before or after Wi-Fi count by their answers. Time and pings add up over links.
      """
    case .way:
      """
      The distance between the centres of a fence and the next one of the same link, across tests; it counts for the first of the two. \
      None where the next centre is further away than four radii, as after a tunnel or a jump. Several links of one drive (modems) have one \
      distance: that of the longest, divided as those of all together.
      """
    case .delay:
      """
      Round-trip delay (RFC 2681). Percentiles by nearest rank \(delays.rule) Mean: sum of all delays divided by the number of answered pings of all fences, \
      not a mean of means. Late answers count as lost.
      """
    case .interval:
      """
      95 % intervals count independent samples, because pings in a row are alike: the variance is that of correlated values, from the 4 to \
      24 lowest cosine transforms of their series, fewer the longer the measured correlation, with Student's t (docs/report.md). Not enough \
      samples: less than twelve correlation times, or less than one independent sample of the rarer kind. Where a drive log is missing, delays have no interval. Links side by side count as independent. An interval is open \
      where even the greatest delay can be below the percentile.
      """
    case .variation:
      """
      Absolute difference of the delays of two pings sent one after the other in the same fence and both answered (IPDV, RFC 3393, 4.2). \
      It needs the drive logs.
      """
    case .loss:
      """
      Pings without an answer within the timeout, divided by pings sent (RFC 2680, for the way there and back). The interval counts single pings as \
      samples; where a drive log is missing, fences.
      """
    case .outages:
      """
      At least \(Outages.fewestPings) pings of one link in a row without an answer, over at least \(Outages.shortest / 1_000_000) s; by the single pings of the \
      drive log, across tests, fences and places without a position. A pause without pings ends an outage when it is longer than \
      \(Outages.longestPause / 1_000_000) s and than three intervals of the pings; so does Wi-Fi. Drives whose log is not there: neighbouring fences in which pings \
      were sent and none was answered. There are at least these.
      """
    case .worst:
      """
      Stretches of neighbouring fences of about \(Int(Stretch.length)) m (within a quarter), ranked by the mean delay of all pings with a lost \
      one counted as 1 s. Stretches of another length, by a gap, stand behind them and have it in their captions.
      """
    case .quality:
      """
      Accuracy: 68 % radius of the position that opened each fence. Gap: time between two fences of a session. Positions: of the logs, from \
      the first selected fence to the last, once for all links of a drive; refused: accuracy unknown or above the limit. Kernel stamps: \
      share of the answered single pings.
      """
    case .comparison:
      """
      Places: the cells of a grid in which both sides sent pings. Delay: the differences of each cell's mean delays, by Wilcoxon's \
      signed-rank test; loss: that of all these cells together; both with the variance of correlated values, in the order of the road. \
      Distance with coverage: all fences, Welch's test. p for all tests: by Holm's correction, so that any false alarm in this table has a \
      probability of at most 5 %. Different: p for all tests is below 0.05, and the difference at least the least that matters. Too small to \
      matter: the whole interval is below that. No difference shown: neither. Not enough samples: no test.
      """
    case .speedTests:
      """
      Completed: ping, download and upload have a figure. Failed: the test ended by itself without one of them. Aborted: it was ended \
      from outside. Unsuccessful ratio: failed tests divided by failed and completed ones (after ETSI EG 202 057-4, data transmissions). \
      Interrupted: less than 85 % of a phase was measured, no byte came for 2 s, or a connection broke. \
      The other figures are over completed tests. Data rate: bits of all connections until their common end, divided by that time; of a \
      phase of which less than 85 % was measured, all bits divided by the planned time. 1 Mbit is 10⁶ bit. Ping: median of a test's pings by the server's values. Delay: median of a test's coverage pings (round trips), of those tests during which some were answered: \
      idle in the 10 s before the test, else under its load (working latency, draft-ietf-ippm-responsiveness). Increase: a test's delay \
      under load less its idle delay. Percentiles by nearest rank over the tests, the 10th and 90th of at least \
      \(Quantiles.fewestForPercentiles) tests. Intervals: 95 %, from \(CorrelatedMean.fewest) tests on, by the variance of correlated values as those of \
      pings: tests in a row are alike. Technology: the last one in a test. Other links: tests that Wi-Fi, Ethernet, a VPN or links of several \
      kinds carried; they are only in the last rows of the second table.
      """
    case .speedTestComparison:
      """
      Mann-Whitney U test (Wilcoxon rank-sum), two-sided, over the completed tests: those of two selections form no pairs. Tests in a row are \
      alike, so the variance of U is that of correlated values on each side, with Welch's t. The difference is the median of all pairs' \
      differences (Hodges and Lehmann). It needs at least \(CorrelatedMean.fewest) tests on each side, more when they are much alike. Places are not \
      matched: a difference can be one of the roads.
      """
    case .bands:
      """
      Each fence counts for the technology and the band of its last serving cell. The 5G cell beside an LTE anchor (non-standalone) has a row of its own: \
      its fences are in the anchor's row too. Band: that of the channel, several with / where 5G's overlap; unknown in 2G and 3G, and where the modem names no channel. \
      Signal: of each fence the median over its time, RSRP in 4G and of the anchor, SS-RSRP in 5G, RSCP in 3G, RSSI in 2G; then the median over fences. RSSI of 3G fences without RSCP stands apart. Carriers: \
      the most in use together in a fence, as far as the modem names more than one; the most frequent number. Neighbours: the most at a time in a fence; the mean \
      over fences with any, and the level of the strongest one. Timing advance: the least and the greatest of the fences' last ones, in the modem's own unit.
      """
    }
  }
}

extension DelayPopulation {
  /// The end of a sentence on percentiles.
  fileprivate var rule: String {
    switch self {
    case .singlePings:
      """
      over the single answered pings of the drive logs that are there, sent \
      within the selected fences while the position was accurate and off Wi-Fi; each ping counts once.
      """
    case .bins:
      "over the answered pings of the fences' bins (at most 1/64 below the delay), because no drive log is there."
    case .medians:
      """
      over the fences' medians, each counted as often as its fence has answered pings, because no drive log is there and fences have no bins. They show the spread \
      between places, and not between pings.
      """
    }
  }
}

extension Report {
  /// The methods with a footnote, in the order of their numbers.
  var methods: [Method] {
    Method.allCases.filter { method in
      switch method {
      case .charts, .groups: parts.contains { !$0.isEmpty }
      case .sources: hasLogs
      case .comparison: comparison != nil
      case .speedTests: parts.contains { !$0.figures.speedTests.isEmpty }
      case .speedTestComparison: speedTests != nil
      case .bands: parts.contains { !$0.figures.breakdown.bands.rows.isEmpty }
      default: true
      }
    }
  }

  /// Whether the log of any drive is there.
  var hasLogs: Bool { parts.compactMap(\.provenance).flatMap(\.drives).contains { $0.digest != nil } }

  /// A reference to the footnote of a method; empty when there is none.
  func note(_ method: Method) -> String {
    guard let index = methods.firstIndex(of: method) else { return "" }
    return "<sup><a href=\"#n\(index + 1)\" aria-label=\"footnote \(index + 1)\">\(index + 1)</a></sup>"
  }
}
