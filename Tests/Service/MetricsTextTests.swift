import Testing

@testable import Service

/// Metrics as Prometheus reads them.
struct MetricsTextTests {
  @Test("when a metric has samples, then its help and type come once before them")
  func samples() {
    var text = MetricsText()
    text.add(
      "probe_fences_total", "counter", "Fences.",
      [(labels: [("link", "A"), ("kind", "x")], value: "3"), (labels: [], value: "4")])
    #expect(
      text.text == """
        # HELP probe_fences_total Fences.
        # TYPE probe_fences_total counter
        probe_fences_total{link="A",kind="x"} 3
        probe_fences_total 4

        """)
  }

  @Test("when a metric has no sample, then it is left out")
  func none() {
    var text = MetricsText()
    text.add("a", "gauge", "A.", [])
    text.addHistogram("b", "B.", [])
    #expect(text.text == "")
  }

  @Test(
    "when a label's value has characters of the format, then each is escaped once",
    arguments: [("a\"b", #"a\"b"#), ("a\\b", #"a\\b"#), ("a\nb", #"a\nb"#), (#"\n"#, #"\\n"#), (#"\""#, #"\\\""#)])
  func escapes(value: String, expected: String) {
    var text = MetricsText()
    text.add("m", "gauge", "M.", [(labels: [("name", value)], value: "1")])
    #expect(text.text.hasSuffix("m{name=\"\(expected)\"} 1\n"))
    #expect(text.text.split(separator: "\n").count == 3)
  }

  @Test("when a histogram has bounds, then an infinite bucket counts all, and the sum and the count follow")
  func histogram() {
    var text = MetricsText()
    text.addHistogram(
      "rtt_seconds", "Round trips.",
      [
        (
          labels: [("link", "A")], buckets: [(bound: "0.01", count: 2), (bound: "0.1", count: 5)], sum: "0.7", count: 6
        ),
        (labels: [], buckets: [], sum: "0", count: 0),
      ])
    #expect(
      text.text == """
        # HELP rtt_seconds Round trips.
        # TYPE rtt_seconds histogram
        rtt_seconds_bucket{link="A",le="0.01"} 2
        rtt_seconds_bucket{link="A",le="0.1"} 5
        rtt_seconds_bucket{link="A",le="+Inf"} 6
        rtt_seconds_sum{link="A"} 0.7
        rtt_seconds_count{link="A"} 6
        rtt_seconds_bucket{le="+Inf"} 0
        rtt_seconds_sum 0
        rtt_seconds_count 0

        """)
  }
}
