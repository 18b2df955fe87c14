import Foundation
import OrderedJSON
import SpeedTest

/// A speed test's result as a summary for people and as JSON (docs/speedtest.md).
struct SpeedTestReport {
  let server: String
  let plan: SpeedTestPlan
  let outcome: SpeedTestOutcome

  /// kbit/s in the unit that fits.
  static func rate(_ kilobits: Int64) -> String {
    switch kilobits {
    case ..<1000: "\(kilobits) kbit/s"
    case ..<1_000_000: String(format: "%.2f Mbit/s", Double(kilobits) / 1e3)
    default: String(format: "%.3f Gbit/s", Double(kilobits) / 1e6)
    }
  }

  /// The summary's lines.
  var lines: [String] {
    let connections = max(outcome.downloadCurves.count, outcome.uploadCurves.count)
    return [
      "server    \(server), RMBT \(outcome.serverVersion), \(outcome.encryption ?? "plain TCP"), "
        + "\(connections) of \(plan.threads) connections" + (outcome.fellBackToOne ? " (slow link)" : ""),
      "ping      " + pingText,
      "download  " + Self.text(outcome.download),
      "upload    " + Self.text(outcome.upload),
    ] + outcome.failures.map { "failed    a connection: \($0)" }
      + ["not sent to a control server, and not stored: this program cannot do that with speed tests yet"]
  }

  private var pingText: String {
    guard let median = outcome.pings.median, let shortest = outcome.pings.shortest else { return "none" }
    let (middle, least) = (Double(median) / 1e6, Double(shortest) / 1e6)
    return String(format: "%.3f ms median, %.3f ms shortest, ", middle, least) + "\(outcome.pings.pings.count) pings"
  }

  private static func text(_ figure: Throughput?) -> String {
    guard let figure else { return "none" }
    return rate(figure.kilobitsPerSecond)
      + String(format: " (%.1f MB in %.2f s)", Double(figure.bytes) / 1e6, Double(figure.nanoseconds) / 1e9)
  }

  /// The result; names and units are those of the control server's `/result` where it has them.
  var json: JSON {
    .object([
      "server": .string(server), "server_version": .string(outcome.serverVersion),
      "protocol": .string(plan.opening == .http ? "RMBThttp" : "RMBT"),
      "test_encryption": .string(outcome.encryption ?? "NONE"), "complete": .bool(outcome.isComplete),
      "test_speed_download": outcome.download.map { .integer($0.kilobitsPerSecond) },
      "test_bytes_download": outcome.download.map { .integer($0.bytes) },
      "test_nsec_download": outcome.download.map { .integer($0.nanoseconds) },
      "test_num_threads": .integer(Int64(outcome.downloadCurves.count)),
      "test_speed_upload": outcome.upload.map { .integer($0.kilobitsPerSecond) },
      "test_bytes_upload": outcome.upload.map { .integer($0.bytes) },
      "test_nsec_upload": outcome.upload.map { .integer($0.nanoseconds) },
      "num_threads_ul": .integer(Int64(outcome.uploadCurves.count)),
      "fell_back_to_one": .bool(outcome.fellBackToOne),
      "ping_median_ns": outcome.pings.median.map(JSON.integer),
      "test_ping_shortest": outcome.pings.shortest.map(JSON.integer),
      "pings": .array(
        outcome.pings.pings.map {
          .object([
            "value": .integer($0.client), "value_server": .integer($0.server), "time_ns": .integer($0.offset),
          ])
        }),
      "speed_detail": .array(
        Self.curve(outcome.downloadCurves, "download") + Self.curve(outcome.uploadCurves, "upload")),
      "failures": .array(outcome.failures.map { .string("\($0)") }),
      "submitted": false,
    ])
  }

  private static func curve(_ threads: [[Sample]], _ direction: String) -> [JSON] {
    threads.enumerated().flatMap { thread, samples in
      samples.map {
        .object([
          "direction": .string(direction), "thread": .integer(Int64(thread)), "time": .integer($0.nanoseconds),
          "bytes": .integer($0.bytes),
        ])
      }
    }
  }
}
