/// Metrics in the Prometheus text format, version 0.0.4: each with its help and type once, before its samples.
struct MetricsText {
  /// A label of a sample, with its value unescaped.
  typealias Label = (name: String, value: String)

  /// Prometheus 3 refuses an answer without it.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var text = ""

  /// Adds a metric with one sample for each of `samples`; nothing for none. Each metric is added once: its samples must stand
  /// together.
  mutating func add(
    _ metric: String, _ type: String, _ help: String, _ samples: [(labels: [Label], value: String)]
  ) {
    guard !samples.isEmpty else { return }
    begin(metric, type, help)
    for sample in samples { add(metric, sample.labels, sample.value) }
  }

  /// Adds a histogram with the samples of each of `histograms`.
  /// - Parameter histograms: Bounds in the metric's unit with cumulative counts, the sum and the count of all.
  mutating func addHistogram(
    _ metric: String, _ help: String,
    _ histograms: [(labels: [Label], buckets: [(bound: String, count: Int)], sum: String, count: Int)]
  ) {
    guard !histograms.isEmpty else { return }
    begin(metric, "histogram", help)
    for histogram in histograms {
      for bucket in histogram.buckets + [("+Inf", histogram.count)] {
        add("\(metric)_bucket", histogram.labels + [("le", bucket.bound)], "\(bucket.count)")
      }
      add("\(metric)_sum", histogram.labels, histogram.sum)
      add("\(metric)_count", histogram.labels, "\(histogram.count)")
    }
  }

  private mutating func begin(_ metric: String, _ type: String, _ help: String) {
    text += "# HELP \(metric) \(help)\n# TYPE \(metric) \(type)\n"
  }

  private mutating func add(_ name: String, _ labels: [Label], _ value: String) {
    let list = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += list.isEmpty ? "\(name) \(value)\n" : "\(name){\(list)} \(value)\n"
  }

  /// The three characters that the format escapes in the value of a label.
  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
