import Coverage
import Store

/// The title and the description of a speed test in KML and GPX: `name`, and `description` or `desc`.
enum SpeedTestTitle {
  /// E.g. `4G/LTE 47.8/12.3 Mbit/s`: down, then up. A test without both rates has its outcome instead: `4G/LTE failed`.
  static func short(_ test: StoredSpeedTest) -> String {
    let technology = test.figures?.links?.otherName ?? (test.technology ?? .none).name
    guard let down = test.figures?.download, let up = test.figures?.upload else {
      return [technology, test.outcome?.rawValue ?? "speed test"].joined(separator: " ")
    }
    return "\(technology) \(megabits(down))/\(megabits(up)) Mbit/s"
  }

  /// E.g. `download 47.8 Mbit/s, upload 12.3 Mbit/s, ping 30.0 ms`; of a test without a result also why.
  static func long(_ test: StoredSpeedTest) -> String {
    let figures = test.figures
    let parts = [
      figures?.download.map { "download \(megabits($0)) Mbit/s" },
      figures?.upload.map { "upload \(megabits($0)) Mbit/s" },
      figures?.medianPing.map { "ping \(tenths($0, of: 1_000_000)) ms" },
      figures?.isInterrupted == true ? "interrupted" : nil,
      test.outcome == .completed
        ? nil : [test.outcome?.rawValue, test.error].compactMap { $0 }.joined(separator: ": "),
    ]
    return parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func megabits(_ rate: SpeedTestRate) -> String { tenths(rate.kilobitsPerSecond, of: 1000) }

  /// `value` in `unit` with one decimal. Neither rates nor delays are negative.
  private static func tenths(_ value: Int64, of unit: Int64) -> String {
    let tenths = max(0, value).saturatingAdding(unit / 20) / (unit / 10)
    return "\(tenths / 10).\(tenths % 10)"
  }
}
