import Settings

/// The configuration: every mistake, and the one setting without a default that a drive needs.
enum ConfigurationExamination {
  /// A fault for each mistake, and one for a missing control server, which is no mistake: commands such as `export` need none.
  static func findings(_ reading: ConfigurationReading) -> [Finding] {
    guard !reading.isUnreadable else {
      return reading.mistakes.map {
        Finding(
          .fault, .configuration, "\($0)", advice: "correct the path, or run this as a user who may read the file")
      }
    }
    var findings = reading.mistakes.map { Finding(.fault, .configuration, "\($0)") }
    if findings.isEmpty { findings.append(Finding(.good, .configuration, reading.summary)) }
    if reading.configuration.controlServer.url == nil {
      findings.append(
        Finding(
          .fault, .configuration, "control-server.url is not set, so no drive gets a test to ping with",
          advice: "set it in \(reading.configuration.file ?? "a file for --config"), or \(urlVariable)"))
    }
    return findings
  }

  private static let urlVariable = "COVERAGE_PROBE_CONTROL_SERVER_URL in the environment"
}
