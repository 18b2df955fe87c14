import Coverage
import Foundation
import Networking
import Pinging
import SystemServices
import TestSupport
import Testing

@testable import Settings

/// The order of sources (environment over file over defaults), and rules about several settings.
struct LoadingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(
    _ yaml: String, _ environment: [String: String] = [:], defaults: ProbeConfiguration = ProbeConfiguration()
  ) throws -> ProbeConfiguration {
    let file = try folder.write(yaml, to: "config.yaml")
    return try .load(file: file, environment: environment, defaults: defaults)
  }

  private func complaint(_ yaml: String, _ environment: [String: String] = [:]) throws -> String {
    let error = #expect(throws: ConfigurationError.self) { try load(yaml, environment) }
    return "\(try #require(error))".replacing(folder.path + "/", with: "")
  }

  @Test("when the caller has other defaults, then they apply to each key that neither file nor environment sets")
  func defaults() throws {
    var defaults = ProbeConfiguration()
    (defaults.gpsd.port, defaults.gpsd.host, defaults.pings.interval) = (1, "a", .seconds(9))
    let loaded = try load("gpsd: { host: b }", ["COVERAGE_PROBE_PINGS_INTERVAL": "8s"], defaults: defaults)
    #expect(loaded.gpsd.port == 1)
    #expect(loaded.gpsd.host == "b")
    #expect(loaded.pings.interval == .seconds(8))
    #expect(loaded.texts == ["gpsd.host": "b", "pings.interval": "8s"])
  }

  @Test("when a file is given, then the configuration has its path; without a file it has no path")
  func file() throws {
    #expect(try load("").file == folder.file("config.yaml"))
    #expect(try ProbeConfiguration.load(file: nil, environment: [:]).file == nil)
  }

  @Test(
    "when a value is null, ~ or empty, in any case, then an optional key is not set",
    arguments: ["null", "~", "", "NULL"])
  func nothing(text: String) throws {
    let yaml = "control-server: { url: http://host/ }\ngpsd: { device: /dev/a }"
    let loaded = try load(yaml, ["COVERAGE_PROBE_CONTROL_SERVER_URL": text, "COVERAGE_PROBE_GPSD_DEVICE": text])
    #expect(loaded.controlServer.url == nil && loaded.gpsd.device == nil)
    #expect(
      try load("gpsd: { device: \(text) }\nlinks: \(text)\nlocation: { maximum-speed: \(text) }").gpsd.device == nil)
    #expect(try load("location: { maximum-speed: \(text) }").location.maximumSpeed == nil)
    #expect(try load("gpsd: \(text)\npings: { timeout: 2s }").pings.timeout == .seconds(2))
  }

  @Test("when the environment sets a list to an empty one, then it overrides the list of the file")
  func emptyList() throws {
    let yaml = "links: [{ name: A, interface: lo }]"
    #expect(try load(yaml).links.count == 1)
    #expect(try load(yaml, ["COVERAGE_PROBE_LINKS": ""]).links.isEmpty)
    #expect(try load(yaml, ["COVERAGE_PROBE_LINKS": "[]"]).links.isEmpty)
  }

  @Test("when a variable overrides a mistake in the file, then the variable's value is used")
  func covered() throws {
    let yaml = "gpsd: { port: seven }"
    #expect(try complaint(yaml) == "configuration config.yaml: gpsd.port is \"seven\": expected a port, 1 to 65535")
    #expect(try load(yaml, ["COVERAGE_PROBE_GPSD_PORT": "7"]).gpsd.port == 7)
  }

  @Test("when several variables are unknown, then the first by name is reported; names without the prefix are ignored")
  func unknownVariables() throws {
    let names = ["COVERAGE_PROBE_Z": "1", "COVERAGE_PROBE_A": "1", "coverage_probe_gpsd_port": "1", "GPSD_PORT": "1"]
    #expect(
      try complaint("", names).hasPrefix("environment: unknown key COVERAGE_PROBE_A; did you mean COVERAGE_PROBE_"))
    let others = names.filter { !$0.key.hasPrefix("COVERAGE_PROBE_") }
    #expect(try load("", others).gpsd.port == 2947)
    #expect(
      try complaint("", ["COVERAGE_PROBE_": "1"]).hasPrefix("environment: unknown key COVERAGE_PROBE_; did you mean"))
  }

  @Test(
    "when a first wait is as long as the last wait, then both are accepted; a millisecond more is a contradiction",
    arguments: [
      ("recovery.backoff", "recovery.backoff-max"), ("recovery.retry-delay", "recovery.backoff-max"),
      ("submission.backoff", "submission.backoff-max"),
      ("submission.breaker.backoff", "submission.breaker.backoff-max"),
    ])
  func waits(first: String, last: String) throws {
    func environment(_ wait: String) -> [String: String] {
      var all: [String: String] = [:]
      // The other wait on the same ladder stays below.
      if first == "recovery.retry-delay" { all["recovery.backoff"] = "1s" }
      if first == "recovery.backoff" { all["recovery.retry-delay"] = "1s" }
      all[first] = wait
      all[last] = "20s"
      return Dictionary(
        uniqueKeysWithValues: all.map { key, text in
          ("COVERAGE_PROBE_" + key.uppercased().replacing("-", with: "_").replacing(".", with: "_"), text)
        })
    }
    #expect(throws: Never.self) { try load("", environment("20s")) }
    #expect(
      try complaint("", environment("20001ms"))
        == "\(first) (20001ms) is longer than \(last) (20s): set \(last) to 20001ms or more")
  }

  @Test(
    "when the IP version and the server's literal address differ, then this is a contradiction; names are not resolved",
    arguments: [
      (4, "http://[2001:db8::1]/", "pings.ip-version is 4, but control-server.url names the IPv6 address 2001:db8::1"),
      (6, "https://192.0.2.1:8443/x", "pings.ip-version is 6, but control-server.url names the IPv4 address 192.0.2.1"),
      (4, "http://192.0.2.1/", nil), (6, "http://[::1]:80/", nil), (4, "http://host/", nil), (6, "http://host/", nil),
      (4, "http://1.2.3/", nil), (6, "http://1.2.3.4.example/", nil),
    ] as [(Int, String, String?)])
  func families(version: Int, url: String, expected: String?) throws {
    let yaml = "control-server: { url: \"\(url)\" }\npings: { ip-version: \(version) }"
    if let expected {
      #expect(try complaint(yaml).hasPrefix(expected))
    } else {
      #expect(try load(yaml).pings.family?.rawValue == version)
    }
  }

  @Test(
    "when links are listed, then they replace the settings of the single link; otherwise those describe the only link")
  func driveLinks() throws {
    let single = "pings: { interface: eth7 }\nnetwork: { source: fixed-wifi }\nradio: { source: auto }\n"
    #expect(
      try load(single).driveLinks == [LinkSettings(name: nil, interface: "eth7", network: .fixed(.wifi), radio: .auto)])
    #expect(
      try load(single + "links: [{ name: A, interface: lo }]").driveLinks == [
        LinkSettings(name: "A", interface: "lo", network: .auto, radio: .none)
      ])
  }

  @Test("when no socket is set, then it is in the state directory")
  func socket() throws {
    #expect(try load("state-directory: /a").servicePath == "/a/agent.sock")
    #expect(try load("state-directory: /a\nagent: { socket: /b }").servicePath == "/b")
  }

  @Test(
    "when the engine's parameters are set together, then each setting has its value, and reading gives the same parameters"
  )
  func parameters() {
    var parameters = Parameters()
    (parameters.minimumRadius, parameters.accuracyLimit, parameters.speedLimit) = (1, 2, 3)
    (parameters.warningAfter, parameters.giveUpAfter) = (.seconds(4), .seconds(5))
    (parameters.maximumDuration, parameters.pingInterval) = (.seconds(6), .seconds(7))
    var configuration = ProbeConfiguration()
    configuration.parameters = parameters
    #expect(configuration.parameters == parameters)
    #expect(configuration.location.minimumRadius == 1 && configuration.location.accuracyLimit == 2)
    #expect(configuration.location.speedLimit == 3 && configuration.location.warningAfter == .seconds(4))
    #expect(configuration.location.giveUpAfter == .seconds(5) && configuration.drive.maximumDuration == .seconds(6))
    #expect(configuration.pings.interval == .seconds(7))
  }
}
