import Foundation
import TestSupport
import Testing

@testable import Settings

/// All mistakes of a configuration at once, and the origin of each value.
struct ConfigurationReadingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func reading(_ yaml: String, _ environment: [String: String] = [:]) throws -> ConfigurationReading {
    ConfigurationReading(file: try folder.write(yaml, to: "config.yaml"), environment: environment)
  }

  private func mistakes(_ yaml: String, _ environment: [String: String] = [:]) throws -> [String] {
    try reading(yaml, environment).mistakes.map { "\($0)".replacing(folder.path + "/", with: "") }
  }

  @Test("when environment and file have several mistakes, then each is named, and the valid settings are applied")
  func all() throws {
    let yaml = """
      gpsd: { port: 0, hots: a, device: [] }
      pings: { interval: 1s, timeout: later }
      storage: many
      """
    let environment = ["COVERAGE_PROBE_GPSD_HOSTS": "a", "COVERAGE_PROBE_DRIVE_LOG": "yes", "HOME": "/root"]
    #expect(
      try mistakes(yaml, environment) == [
        "environment: unknown key COVERAGE_PROBE_GPSD_HOSTS; did you mean COVERAGE_PROBE_GPSD_HOST?",
        "configuration config.yaml: unknown key gpsd.hots; did you mean gpsd.host?",
        #"configuration config.yaml: gpsd.device is "a list or a group": expected a device path as gpsd calls it, or null"#,
        #"configuration config.yaml: storage is "many": expected a group of keys below it"#,
        #"configuration config.yaml: gpsd.port is "0": expected a port, 1 to 65535"#,
        #"configuration config.yaml: pings.timeout is "later": expected a duration such as 250ms, 10s, 5m, 4h or 7d, from 10ms to 1m"#,
        #"environment: COVERAGE_PROBE_DRIVE_LOG is "yes": expected true or false; yes, no, on and off are no booleans"#,
      ])
    let configuration = try reading(yaml, environment).configuration
    #expect(configuration.pings.interval == .seconds(1) && configuration.pings.timeout == .seconds(1))
    #expect(configuration.gpsd.port == 2947)
  }

  @Test("when several waits contradict each other, then each pair is named, unless there is another mistake")
  func contradictions() throws {
    let yaml = "recovery: { backoff: 5m }\nsubmission: { backoff: 10m, backoff-max: 1m }"
    #expect(try mistakes(yaml).count == 2)
    #expect(try mistakes(yaml + "\nstorage: { max-fences: 0 }").count == 1)
  }

  @Test("when a loop has neither a time nor a distance, then it is a mistake, unless it has one test")
  func endlessLoop() throws {
    #expect(
      try mistakes("loop: { every: null, distance: null }") == [
        "loop.every and loop.distance are null, so the second of loop.count tests never starts: set one of them"
      ])
    #expect(try mistakes("loop: { every: null, distance: null, count: 1 }").isEmpty)
  }

  @Test("when the file cannot be read as YAML, then the mistake is listed with those of the environment")
  func malformed() throws {
    let found = try mistakes("gpsd: [", ["COVERAGE_PROBE_GPSD_PORT": "x"])
    #expect(found.count == 2 && found[0].hasPrefix("configuration config.yaml is not YAML"))
  }

  @Test("when a key is in the file, in the environment, or in neither, then its origin has the source")
  func origins() throws {
    let found = try reading("gpsd: { port: 1, host: b }", ["COVERAGE_PROBE_GPSD_HOST": "c"])
    #expect(found.origin(of: "gpsd.port") == .file(folder.file("config.yaml")))
    #expect(found.origin(of: "gpsd.host") == .environment(variable: "COVERAGE_PROBE_GPSD_HOST"))
    #expect(found.origin(of: "gpsd.device") == .standard)
    #expect(
      found.summary
        == "no mistake in \(Setting.all.count) settings: 1 from \(folder.file("config.yaml")), 1 from the environment, "
        + "the others are defaults")
    #expect(ConfigurationReading(file: nil, environment: [:]).summary.contains(": no file, 0 from the environment"))
  }

  // MARK: conf.d

  private func write(_ yaml: String, to name: String) throws {
    let parent = URL(fileURLWithPath: folder.file(name)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    _ = try folder.write(yaml, to: name)
  }

  @Test("when files are in conf.d, then the last one by name that sets a key wins, and each origin has its file")
  func parts() throws {
    let parts = folder.file("conf.d")
    try write(
      "gpsd: { port: 2, host: b, device: /dev/b }\nlinks: [{ name: A, interface: lo }]", to: "conf.d/50-a.yaml")
    try write("gpsd: { port: 3, device: null }", to: "conf.d/9.yml")
    for name in ["a.yaml~", ".hidden.yaml", "a.yaml.dpkg-dist", "README"] {
      try write("gpsd: { port: 7 }", to: "conf.d/\(name)")
    }
    let found = try reading("gpsd: { port: 1, stale-after: 9s }\nlinks: [{ name: B, interface: eth0 }]")
    #expect(found.mistakes.isEmpty)
    let gpsd = found.configuration.gpsd
    #expect(gpsd.port == 3 && gpsd.host == "b" && gpsd.device == nil && gpsd.staleAfter == .seconds(9))
    #expect(found.configuration.links.map(\.name) == ["A"])
    #expect(found.origin(of: "gpsd.port") == .file(parts + "/9.yml"))
    #expect(found.origin(of: "gpsd.host") == .file(parts + "/50-a.yaml"))
    #expect(found.origin(of: "gpsd.stale-after") == .file(folder.file("config.yaml")))
    #expect(
      found.summary.contains(
        "settings: 1 from \(folder.file("config.yaml")), 2 from \(parts)/50-a.yaml, 2 from \(parts)/9.yml, 0 from"))
    #expect(found.configuration.file == folder.file("config.yaml"))
  }

  @Test("when a pipe is in conf.d, then it is named instead of waited for")
  func pipe() throws {
    try write("{}", to: "conf.d/a.yaml")
    let pipe = folder.file("conf.d/b.yaml")
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(throws: ConfigurationError.unreadable(file: pipe, reason: "it is not a regular file; remove it")) {
      _ = try ConfigurationFiles.paths(folder.file("config.yaml"))
    }
  }

  @Test(
    "when a file in conf.d has mistakes, then each names that file; a value that a later file replaces is not parsed")
  func mistakesOfParts() throws {
    try write("gpsd: { prot: 1, port: 5 }\npings: { timeout: later }", to: "conf.d/a.yaml")
    #expect(
      try mistakes("gpsd: { port: seven }") == [
        "configuration conf.d/a.yaml: unknown key gpsd.prot; did you mean gpsd.port?",
        #"configuration conf.d/a.yaml: pings.timeout is "later": expected a duration such as 250ms, 10s, 5m, 4h or 7d, from 10ms to 1m"#,
      ])
  }

  @Test("when conf.d is a file, then it is a mistake")
  func partsAreNoFolder() throws {
    try write("", to: "conf.d")
    #expect(try mistakes("") == ["cannot read configuration conf.d: Not a directory"])
  }

  @Test("when the package's file is read, then its own settings are below it, and each part may be missing")
  func packaged() throws {
    let (packaged, installed) = (folder.file("share.yaml"), folder.file("etc/config.yaml"))
    func paths(_ file: String? = nil) throws -> [String] {
      try ConfigurationFiles.paths(file ?? installed, installed: installed, packaged: packaged)
        .map { $0.replacing(folder.path + "/", with: "") }
    }
    #expect(try paths() == ["etc/config.yaml"])
    try write("", to: "share.yaml")
    #expect(try paths() == ["share.yaml"])
    try write("", to: "etc/conf.d/site.yaml")
    #expect(try paths() == ["share.yaml", "etc/conf.d/site.yaml"])
    try write("", to: "etc/config.yaml")
    #expect(try paths() == ["share.yaml", "etc/config.yaml", "etc/conf.d/site.yaml"])
    #expect(try paths(folder.file("other.yaml")) == ["other.yaml"])
  }

  @Test("when the configuration comes through a pipe, then no folder belongs to it", arguments: ["/dev/stdin", "-"])
  func pipe(file: String) throws {
    #expect(try ConfigurationFiles.paths(file) == [file])
  }
}
