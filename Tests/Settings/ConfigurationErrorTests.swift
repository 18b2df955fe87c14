import Foundation
import TestSupport
import Testing

@testable import Settings

/// Files that cannot be read as a configuration, and their one-line errors.
struct ConfigurationErrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func complaint(_ bytes: Data, environment: [String: String] = [:]) throws -> String {
    let file = folder.file("config.yaml")
    try bytes.write(to: URL(fileURLWithPath: file))
    let error = #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: file, environment: environment)
    }
    return "\(try #require(error))".replacing(folder.path + "/", with: "")
  }

  private func complaint(_ yaml: String) throws -> String { try complaint(Data(yaml.utf8)) }

  @Test(
    "when a file is not UTF-8, then the line names the encoding",
    arguments: [
      ([0xFF, 0xFE, 0x61, 0x00], "it is UTF-16, by its byte order mark (BOM): save it as UTF-8"),
      ([0xFE, 0xFF, 0x00, 0x61], "it is UTF-16, by its byte order mark (BOM): save it as UTF-8"),
      ([0x61, 0x3A, 0x20, 0xE4], "it is not UTF-8"),
    ] as [([UInt8], String)])
  func encodings(bytes: [UInt8], reason: String) throws {
    #expect(try complaint(Data(bytes)) == "cannot read configuration config.yaml: \(reason)")
  }

  /// Nine levels of nine aliases each: 387 million values in ten lines.
  private static func bomb(_ key: String) -> String {
    let levels = (2...9).map { level in
      "x\(level): &x\(level) [" + Array(repeating: "*x\(level - 1)", count: 9).joined(separator: ", ") + "]"
    }
    return (["x1: &x1 [1, 2, 3, 4, 5, 6, 7, 8, 9]"] + levels + ["\(key): *x9"]).joined(separator: "\n")
  }

  @Test(
    "when aliases stand for more values than memory can hold, then the file is refused at once",
    arguments: [
      bomb("links"), bomb("gpsd"), "gpsd: { host: &h a }\n" + bomb("privacy: { exclusion-zones").dropLast(4) + "*x9 }",
    ])
  func bombs(yaml: String) throws {
    let line = try complaint(yaml)
    #expect(
      line
        == "cannot read configuration config.yaml: its aliases (*name) stand for thousands of values: write them out"
    )
  }

  @Test("when a variable's aliases stand for more values than memory can hold, then it is refused at once")
  func bombInVariable() throws {
    let flat = Self.bomb("- x").split(separator: "\n").map { $0.split(separator: "&").last.map { "&" + $0 } ?? "" }
    let list = "[" + flat.joined(separator: ", ") + "]"
    #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: nil, environment: ["COVERAGE_PROBE_LINKS": list])
    }
  }

  @Test("when a long list has no alias, then it is accepted")
  func longList() throws {
    let zones = (0..<3000).map { "{ latitude: 48.\($0), longitude: 16, radius: 300 }" }.joined(separator: ", ")
    let file = try folder.write(
      "privacy: { exclusion-zones: [\(zones)] }\ncontrol-server: { url: \"http://h/x\" }", to: "z.yaml")
    #expect(try ProbeConfiguration.load(file: file, environment: [:]).exclusionZones.count == 3000)
  }

  @Test("when entries of a list share a value by an alias, then each entry has it, in a file and in a variable")
  func sharedValue() throws {
    let list = "[{ latitude: 1, longitude: 2, radius: &r 300 }, { latitude: 3, longitude: 4, radius: *r }]"
    let file = try folder.write("privacy: { exclusion-zones: \(list) }", to: "shared.yaml")
    let url = ["COVERAGE_PROBE_CONTROL_SERVER_URL": "http://h/x"]
    let fromFile = try ProbeConfiguration.load(file: file, environment: url)
    let fromVariable = try ProbeConfiguration.load(
      file: nil, environment: url.merging(["COVERAGE_PROBE_PRIVACY_EXCLUSION_ZONES": list]) { $1 })
    for configuration in [fromFile, fromVariable] {
      #expect(configuration.exclusionZones.map(\.radius) == [300, 300])
    }
  }

  @Test("when a value is given by an alias, then it is used")
  func alias() throws {
    let file = try folder.write(
      "gpsd: { host: &receiver box }\ncontrol-server: { url: \"http://h/x\" }\nagent: { socket-group: *receiver }",
      to: "a.yaml")
    let configuration = try ProbeConfiguration.load(file: file, environment: [:])
    #expect(configuration.gpsd.host == "box" && configuration.agent.socketGroup == "box")
  }

  @Test(
    "when a file is unusual YAML, then the line names the mistake",
    arguments: [
      ("- a\n- b\n", "configuration config.yaml is not YAML: expected keys and values at the top"),
      ("just text", "configuration config.yaml is not YAML: expected keys and values at the top"),
      ("? [a, b]\n: c\n", "configuration config.yaml: unknown key ?; did you mean gpsd?"),
      (
        "gpsd: &g { port: 1 }\nagent: { <<: *g }\n",
        "configuration config.yaml: unknown key agent.<<; did you mean agent?"
      ),
      ("---\ngpsd: { port: 5 }\n---\ngpsd: { port: 6 }\n", "line 3, column 1: but found another document"),
      ("gpsd: { port: *nothing }\n", "line 1, column 15: found undefined alias"),
      (String(repeating: "[", count: 20_000), "Maximum nesting level reached"),
      (String(repeating: "{a: ", count: 20_000), "Maximum nesting level reached"),
      ("gpsd: { port: 2947 ", "line 2, column 1: did not find expected ',' or '}'"),
    ])
  func oddities(yaml: String, expected: String) throws {
    let line = try complaint(yaml)
    #expect(line.contains(expected) && !line.contains("\n"), "\(line)")
  }

  @Test("when a key occurs twice, then the line names it")
  func duplicate() throws {
    let line = try complaint("gpsd: { stale-after: 1s, stale-after: 2s }")
    #expect(line == "configuration config.yaml is not YAML: stale-after is there twice")
  }

  @Test(
    "when a coordinate is a key and occurs twice, then the line does not repeat it",
    arguments: ["privacy: { 47.25: 1, 47.25: 2 }", "privacy: { exclusion-zones: [{ 47.25, 47.25, 300 }] }"])
  func privateDuplicate(yaml: String) throws {
    #expect(try complaint(yaml) == "configuration config.yaml is not YAML: a key is there twice")
  }

  @Test(
    "when a key or a value has line breaks, then the error is still one line",
    arguments: [
      (#""gps\nd": 1"#, "unknown key gps d"),
      (#"gpsd: { host: "a\nb" }"#, "gpsd.host is \"a b\": expected a name"),
      (#"gpsd: "a\r\nb""#, "gpsd is \"a b\": expected a group"),
      (#"links: [{ name: "a\nb", interface: lo }]"#, "entry 1: name is \"a b\": expected 1 to 32"),
      (#"links: [{ name: A, interface: lo, "x\Ny": 1 }]"#, "entry 1: unknown key x y"),
    ])
  func lineBreaks(yaml: String, expected: String) throws {
    let line = try complaint(yaml)
    #expect(line.contains(expected), "\(line)")
    let hasLineBreak = line.contains { $0.isNewline }
    #expect(!hasLineBreak, "\(line)")
  }

  @Test(
    "when a list in the environment is wrong, then the line names the variable but no coordinates",
    arguments: [
      (
        "[{ latitude: 47.25, longitude: 11.5, radius: 0 }]", "entry 1: radius: expected metres, above 0, at most 100000"
      ),
      ("47.25, 11.5", "expected a list of zones, each { latitude: DEGREES, longitude: DEGREES, radius: METRES }"),
      (
        "[{ latitude: 47.25", "expected a list of zones, each { latitude: DEGREES, longitude: DEGREES, radius: METRES }"
      ),
      ("[{ latitude: [47.25], longitude: 11.5, radius: 1 }]", "entry 1: latitude: expected degrees, -90 to 90"),
      ("[{ latitude: 1, longitude: 181, radius: 1 }]", "entry 1: longitude: expected degrees, -180 to 180"),
    ])
  func privateList(text: String, reason: String) throws {
    let name = "COVERAGE_PROBE_PRIVACY_EXCLUSION_ZONES"
    let line = try complaint(Data(), environment: [name: text])
    #expect(line == "environment: \(name): \(reason)")
  }

  @Test("when a program for loop.hook calls this program, then the hook's variables are no mistake")
  func ofHook() throws {
    let environment = ["COVERAGE_PROBE_NOTICE": "the loop is paused", "COVERAGE_PROBE_TEST": "3"]
    _ = try ProbeConfiguration.load(file: nil, environment: environment)
  }

  @Test("when several variables are unknown, then the first by name is reported, in any order")
  func firstVariable() throws {
    let names = ["COVERAGE_PROBE_ZZZ", "COVERAGE_PROBE_GPSD_HOTS", "COVERAGE_PROBE_LINK"]
    let line = try complaint(Data(), environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }))
    #expect(line == "environment: unknown key COVERAGE_PROBE_GPSD_HOTS; did you mean COVERAGE_PROBE_GPSD_HOST?")
  }

  @Test("when the path of the file begins with a tilde, then the line demands the whole path")
  func tilde() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: "~/no-such.yaml", environment: [:])
    }
    #expect(
      "\(try #require(error))" == "cannot read configuration ~/no-such.yaml: No such file or directory; "
        + "the shell leaves ~ alone there, write the whole path")
  }
}
