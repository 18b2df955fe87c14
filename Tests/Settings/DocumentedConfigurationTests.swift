import Foundation
import TestSupport
import Testing

@testable import Settings

/// The program accepts the configuration that README.md shows.
struct DocumentedConfigurationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(_ yaml: String) throws -> ProbeConfiguration {
    try .load(file: try folder.write(yaml, to: "config.yaml"), environment: [:])
  }

  /// The lines of the block in the section "Configure".
  private func example() throws -> [String] {
    let text = try String(contentsOf: Surroundings.root.appending(path: "README.md"), encoding: .utf8)
    let section = try #require(text.ranges(of: "\n## Configure\n").first)
    let lines = text[section.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
  }

  @Test("when the example is loaded, then it has no mistake, and sets the values that it shows")
  func loads() throws {
    let lines = try example()
    #expect(lines.count >= 5)
    let loaded = try load(lines.joined(separator: "\n"))
    #expect(loaded.texts["control-server.url"] == "https://host/RMBTControlServer")
    #expect(loaded.texts["gpsd.port"] == "2947")
    #expect(loaded.stateDirectory == "/var/lib/coverage-probe")
  }

  @Test("when the example's defaults are left out, then only the URL is missing")
  func defaults() throws {
    let loaded = try load(try #require(try example().first))
    #expect(loaded.texts == ["control-server.url": "https://host/RMBTControlServer"])
    #expect(loaded.stateDirectory == ProbeConfiguration().stateDirectory)
  }

  @Test(
    "when an alternative from a comment of the example is set, then it is accepted",
    arguments: [
      "network: { source: fixed-cellular }", "network: { source: fixed-wifi }",
      "network: { source: \"file:/run/path\" }",
      "radio: { source: \"fixed:4G/LTE\" }", "radio: { source: \"command:/usr/bin/technology\" }",
      "agent: { record: always }", "agent: { record: command }",
    ])
  func alternatives(yaml: String) throws {
    let word = try #require(yaml.split(separator: " ").dropLast().last).trimmingCharacters(in: ["\""])
    let kind = word.prefix { $0 != ":" }
    #expect(try example().contains { $0.contains(kind) }, "README.md names \(kind)")
    #expect(try load(yaml).texts.count == 1)
  }
}
