import Foundation
import TestSupport
import Testing

@testable import Settings

/// The output of `config print`.
struct ConfigurationListingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func listing(_ yaml: String?, _ environment: [String: String] = [:]) throws -> ConfigurationListing {
    let file = try yaml.map { try folder.write($0, to: "config.yaml") }
    return ConfigurationListing(ConfigurationReading(file: file, environment: environment))
  }

  private func lines(_ yaml: String, _ environment: [String: String] = [:]) throws -> [String] {
    try listing(yaml, environment).yaml.replacing(folder.path + "/", with: "").split(separator: "\n").map(String.init)
  }

  @Test("when no setting is set, then each has its default")
  func defaults() throws {
    let lines = try listing(nil).yaml.split(separator: "\n")
    #expect(lines.first == "state-directory: /var/lib/coverage-probe  # default")
    #expect(lines.contains("  request-timeout: 30s  # default"))
    #expect(lines.count { $0.hasSuffix("# default") } == Setting.all.count)
  }

  @Test("when values are from the file and the environment, then each has its origin")
  func origins() throws {
    let lines = try lines("gpsd: { port: 1, host: b }", ["COVERAGE_PROBE_GPSD_HOST": "c"])
    #expect(lines.contains("  port: 1  # config.yaml"))
    #expect(lines.contains("  host: c  # COVERAGE_PROBE_GPSD_HOST"))
  }

  @Test("when the settings are printed, then the output is a configuration file with the same values")
  func again() throws {
    let yaml = """
      state-directory: "/srv/a b#c"
      control-server: { url: "https://host:8443/RMBTControlServer/", ca-file: null }
      gpsd: { device: /dev/ttyUSB1 }
      network: { source: "file:/run/a: b" }
      radio: { source: "fixed:4G/LTE" }
      location: { maximum-speed: null, minimum-radius: 12.5 }
      links: [{ name: A, interface: wwan0, radio: "fixed:4G/LTE" }, { name: B, interface: wwan1, network: auto }]
      """
    let first = try listing(yaml).yaml
    let second = try folder.write(first, to: "second.yaml")
    let again = ConfigurationReading(file: second, environment: [:])
    #expect(again.mistakes.isEmpty)
    let before = ConfigurationReading(file: folder.file("config.yaml"), environment: [:]).configuration
    let after = again.configuration
    #expect(after.stateDirectory == "/srv/a b#c" && after.stateDirectory == before.stateDirectory)
    #expect(
      after.controlServer.url == before.controlServer.url && after.links == before.links && after.links.count == 2)
    #expect(after.network == before.network && after.radio == before.radio)
    #expect(after.location.maximumSpeed == nil && after.location.minimumRadius == 12.5)
    func values(_ text: String) -> [String] {
      text.split(separator: "\n").map { $0.split(separator: "  #")[0] }.map(String.init)
    }
    #expect(values(ConfigurationListing(again).yaml) == values(first))
  }

  @Test("when there are a password in the URL and private places, then neither is shown")
  func secrets() throws {
    let yaml = """
      control-server: { url: "https://user:geheim@host/p" }
      privacy: { exclusion-zones: [{ latitude: 48.25, longitude: 16.35, radius: 300 }] }
      """
    for text in [try listing(yaml).yaml, try listing(yaml).json] {
      #expect(!text.contains("geheim") && !text.contains("48.25") && !text.contains("16.35"))
      #expect(text.contains("https://(hidden)@host/p") && text.contains("1 entry, hidden"))
    }
    #expect(try lines(yaml).contains("  # exclusion-zones: 1 entry, hidden  # config.yaml"))
    let values = try lines(yaml).joined(separator: "\n")
    let file = try folder.write(values, to: "second.yaml")
    #expect(ConfigurationReading(file: file, environment: [:]).configuration.exclusionZones.isEmpty)
  }

  @Test("when the settings are printed as JSON, then each is an object with value, default, origin and file")
  func json() throws {
    struct Entry: Decodable, Equatable {
      let key, value, `default`, origin, variable: String
      let file: String?
    }
    let text = try listing("gpsd: { port: 1 }", ["COVERAGE_PROBE_GPSD_HOST": "c"]).json
    let entries = try JSONDecoder().decode([Entry].self, from: Data(text.utf8))
    #expect(entries.map(\.key) == Setting.all.map(\.key))
    #expect(
      entries.contains(
        Entry(
          key: "gpsd.port", value: "1", default: "2947", origin: "file", variable: "COVERAGE_PROBE_GPSD_PORT",
          file: folder.file("config.yaml"))))
    #expect(entries.count { $0.file != nil } == 1)
    #expect(Set(entries.map(\.origin)) == ["default", "file", "environment"])
  }
}
