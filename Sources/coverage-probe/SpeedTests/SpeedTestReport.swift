import Coverage
import Foundation
import OrderedJSON
import Submission

/// A speed test's result as a summary for people and as JSON (docs/speedtest.md).
struct SpeedTestReport {
  /// A test that a control server made.
  struct Controlled {
    /// In the store; `nil` when the disk refused it.
    let id: Int64?
    let testUUID: String
    /// Whether the control server has the result; `nil` for a test that was not to be sent.
    let isSubmitted: Bool?
    /// Whether the control server refused it.
    var isRefused = false
  }

  var figures: SpeedTestFigures
  /// The connections that were planned.
  let threads: Int
  /// Why connections dropped out, or the test has no result.
  var failures: [String] = []
  /// `nil` for a test of a server that the user named.
  var controlled: Controlled?

  /// kbit/s in the unit that fits.
  static func rate(_ kilobits: Int64) -> String {
    switch kilobits {
    case ..<1000: "\(kilobits) kbit/s"
    case ..<1_000_000: String(format: "%.2f Mbit/s", Double(kilobits) / 1e3)
    default: String(format: "%.3f Gbit/s", Double(kilobits) / 1e6)
    }
  }

  private var server: String {
    figures.server.contains(":") ? "[\(figures.server)]:\(figures.port)" : "\(figures.server):\(figures.port)"
  }

  var lines: [String] {
    let connections = max(figures.download?.connections ?? 0, figures.upload?.connections ?? 0)
    let lines: [String?] = [
      "server    \(server), RMBT \(figures.serverVersion), \(figures.encryption ?? "plain TCP"), "
        + "\(connections) of \(threads) connections" + (figures.fellBackToOne ? " (slow link)" : ""),
      linkLine,
      "ping      " + pingText,
      "download  " + Self.text(figures.download),
      Self.interruption(figures.download),
      "upload    " + Self.text(figures.upload),
      Self.interruption(figures.upload),
    ]
    return lines.compactMap { $0 } + failures.map { "failed    \($0.trimmingPrefix("failed: "))" } + [ending]
  }

  /// Which link was measured; `nil` when it is not known.
  private var linkLine: String? {
    figures.links.map { links in
      "link      \(links.text)" + (links.isCellular ? "" : ": no figures of a mobile network")
        + (links.count > 1 ? "; the link changed within the test" : "")
    }
  }

  private var ending: String {
    guard let controlled else {
      return "not stored, and not sent to a control server: no control server made the test"
    }
    let test = "speed test \(controlled.id.map { "\($0) " } ?? "")(\(controlled.testUUID))"
    return switch controlled.isSubmitted {
    case true?: "\(test): the control server has it"
    case _ where controlled.isSubmitted != true && controlled.id == nil:
      "\(test): neither stored nor sent, because the disk refuses it"
    case false? where controlled.isRefused:
      "\(test): stored; the control server refused it, \(Program.name) submit --quarantined sends it again"
    case false?: "\(test): stored; \(Program.name) submit sends it later"
    case nil: "\(test): stored, not sent"
    }
  }

  private var pingText: String {
    guard let median = figures.medianPing, let shortest = figures.shortestPing else { return "none" }
    let (middle, least) = (Double(median) / 1e6, Double(shortest) / 1e6)
    return String(format: "%.3f ms median, %.3f ms shortest by the server's clock, ", middle, least)
      + counted(figures.pings.count, "ping")
  }

  private static func text(_ figure: SpeedTestRate?) -> String {
    guard let figure, let kilobits = figure.kilobitsPerSecond, let bytes = figure.bytes, let time = figure.nanoseconds
    else { return "none" }
    return rate(kilobits) + String(format: " (%.1f MB in %.2f s)", Double(bytes) / 1e6, Double(time) / 1e9)
  }

  /// What the rate does not say; `nil` for a phase that was measured without an interruption.
  private static func interruption(_ figure: SpeedTestRate?) -> String? {
    guard let figure, figure.isInterrupted, let planned = figure.planned else { return nil }
    let share = String(format: "%.0f %% of %.0f s measured", (figure.measuredShare ?? 0) * 100, Double(planned) / 1e9)
    let silence = String(format: "%.1f s without a byte", Double(figure.silence ?? 0) / 1e9)
    let broken = figure.broken.flatMap { $0 > 0 ? ", \(counted($0, "connection")) broke" : nil } ?? ""
    return "          interrupted: \(share), \(silence)\(broken); \(rate(figure.kilobitsOfPhase)) over the whole phase"
  }

  private static func percent(_ figure: SpeedTestRate?) -> JSON? {
    figure?.measuredShare.flatMap { JSON.rounded($0 * 100, places: 1) }
  }

  /// The result; names and units are those of the control server's `/result` where it has them.
  var json: JSON {
    .object([
      "server": .string(server), "server_version": .string(figures.serverVersion), "protocol": .string(figures.kind),
      "test_encryption": .string(figures.encryption ?? "NONE"), "complete": .bool(figures.isComplete),
      "test_speed_download": (figures.download?.kilobitsPerSecond).map(JSON.integer),
      "test_bytes_download": (figures.download?.bytes).map(JSON.integer),
      "test_nsec_download": (figures.download?.nanoseconds).map(JSON.integer),
      "test_num_threads": .integer(Int64(figures.download?.connections ?? 0)),
      "test_speed_upload": (figures.upload?.kilobitsPerSecond).map(JSON.integer),
      "test_bytes_upload": (figures.upload?.bytes).map(JSON.integer),
      "test_nsec_upload": (figures.upload?.nanoseconds).map(JSON.integer),
      "num_threads_ul": .integer(Int64(figures.upload?.connections ?? 0)),
      "link": figures.links.map { .string($0.word) }, "link_interface": figures.links?.interfaces.map(JSON.string),
      "link_changed": figures.links.map { .bool($0.count > 1) },
      "fell_back_to_one": .bool(figures.fellBackToOne),
      "interrupted": .bool(figures.isInterrupted),
      "download_measured_percent": Self.percent(figures.download),
      "download_silence_ms": (figures.download?.silenceMilliseconds).map(JSON.integer),
      "upload_measured_percent": Self.percent(figures.upload),
      "upload_silence_ms": (figures.upload?.silenceMilliseconds).map(JSON.integer),
      "ping_median_ns": figures.medianPing.map(JSON.integer),
      "ping_shortest_ns": figures.shortestPing.map(JSON.integer),
      "test_ping_shortest": figures.shortestClientPing.map(JSON.integer),
      "test_total_bytes_download": .integer(figures.traffic.received),
      "test_total_bytes_upload": .integer(figures.traffic.sent),
      "pings": .array(figures.pings.map(SpeedTestJSON.ping)),
      "speed_detail": .array(SpeedTestJSON.curves(figures)),
      "failures": .array(failures.map(JSON.string)),
      "id": controlled?.id.map(JSON.integer), "test_uuid": controlled.map { .string($0.testUUID) },
      "submitted": .bool(controlled?.isSubmitted == true),
    ])
  }
}
