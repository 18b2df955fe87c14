import Coverage
import Foundation
import TestSupport
import Testing

@testable import Settings

struct ConfigurationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(_ yaml: String?, environment: [String: String] = [:]) throws -> ProbeConfiguration {
    try .load(file: try yaml.map { try folder.write($0, to: "config.yaml") }, environment: environment)
  }

  /// The one-line error of a bad configuration.
  private func complaint(_ yaml: String, environment: [String: String] = [:]) throws -> String {
    let error = #expect(throws: ConfigurationError.self) { try load(yaml, environment: environment) }
    let line = "\(try #require(error))"
    #expect(!line.contains("\n"))
    return line.replacing(folder.path + "/", with: "")
  }

  @Test("when the whole configuration of the contract is read, then every value is applied")
  func contract() throws {
    let configuration = try load(
      """
      state-directory: /var/lib/elsewhere
      control-server: { url: "https://host/RMBTControlServer/", ca-file: null, request-timeout: 30s }
      gpsd: { host: 127.0.0.1, port: 2948, device: null, stale-after: 250ms }
      location: { accuracy-limit: 12.5, minimum-radius: 20, maximum-speed: 83.5, speed-limit: 70, warning-after: 3s, give-up-after: 30m }
      pings: { interval: 200ms, timeout: 1s, interface: wwan0, ip-version: 6 }
      recovery: { failure-threshold: 31, backoff: 10s, backoff-max: 120s, prepare-timeout: 15s, activation-timeout: 5s,
        retry-delay: 2s }
      network: { source: fixed-wifi }
      radio: { source: "fixed:4G/LTE" }
      submission: { max-age: 7d, legacy-threshold: 15m, breaker: { threshold: 4, backoff: 30s, backoff-max: 300s } }
      storage: { max-size: 512M, max-fences: 20000 }
      drive: { maximum-duration: 4h, log: false }
      """.replacing("stale-after: 250ms", with: "stale-after: 2500ms"))
    #expect(configuration.stateDirectory == "/var/lib/elsewhere")
    #expect(configuration.controlServer.url == "https://host/RMBTControlServer")
    #expect(configuration.controlServer.caFile == nil)
    #expect(configuration.gpsd.port == 2948)
    #expect(configuration.gpsd.staleAfter == .milliseconds(2500))
    #expect(configuration.parameters.accuracyLimit == 12.5)
    #expect(configuration.parameters.minimumRadius == 20)
    #expect(configuration.location.maximumSpeed == 83.5)
    #expect(configuration.location.speedLimit == 70)
    #expect(configuration.parameters.speedLimit == 70)
    #expect(configuration.pings.interval == .milliseconds(200))
    #expect(configuration.pings.interface == "wwan0")
    #expect(configuration.pings.family == .ipv6)
    #expect(configuration.recovery.failureThreshold == 31)
    #expect(configuration.recovery.retryDelay == .seconds(2))
    #expect(configuration.network == .fixed(.wifi))
    #expect(configuration.radio == .fixed(Technology("4G/LTE")))
    #expect(configuration.submission.breakerThreshold == 4)
    #expect(configuration.parameters.maximumDuration == .seconds(4 * 3600))
    #expect(configuration.storage.maxSize == 512 << 20)
    #expect(configuration.storage.maxFences == 20_000)
    #expect(configuration.drive.log == false)
  }

  @Test("when links are listed, in the file or in the environment, then each is read")
  func links() throws {
    let expected = [
      LinkSettings(name: "A", interface: "wwan0", network: .auto, radio: .fixed(Technology("4G/LTE"))),
      LinkSettings(name: "B", interface: "wwan1", network: .fixed(.cellular), radio: .none),
    ]
    let list = """
      [{ name: A, interface: wwan0, radio: "fixed:4G/LTE" }, { name: B, interface: wwan1, network: fixed-cellular }]
      """
    let lines = """
      links:
        - name: A
          interface: wwan0
          radio: fixed:4G/LTE
        - { name: B, interface: wwan1, network: fixed-cellular }
      """
    #expect(try load("links: \(list)").links == expected)
    #expect(try load(lines).links == expected)
    #expect(try load(nil, environment: ["COVERAGE_PROBE_LINKS": list]).links == expected)
    #expect(try load("links: []\npings: { interface: eth1 }").driveLinks.map(\.interface) == ["eth1"])
  }

  @Test(
    "when there is no file, or an empty one, then the defaults apply", arguments: [nil, "", "# nothing\n", "---\n"])
  func defaults(yaml: String?) throws {
    let configuration = try load(yaml)
    #expect(configuration.parameters == Parameters())
    #expect(configuration.gpsd.port == 2947)
    #expect(configuration.location.maximumSpeed == 170)
    #expect(configuration.location.speedLimit == 170)
    #expect(configuration.controlServer.url == nil)
  }

  @Test("when a variable is set, then it overrides the file")
  func environment() throws {
    let configuration = try load(
      "gpsd: { port: 1 }\n",
      environment: [
        "COVERAGE_PROBE_GPSD_PORT": "2", "COVERAGE_PROBE_SUBMISSION_BREAKER_BACKOFF_MAX": "7m", "HOME": "/",
      ])
    #expect(configuration.gpsd.port == 2)
    #expect(configuration.submission.breakerBackoffMax == .seconds(420))
  }

  @Test(
    "when a value is wrong, then one line has the key, the place and the expectation",
    arguments: [
      ("gpsd: { prot: 1 }", "configuration config.yaml: unknown key gpsd.prot; did you mean gpsd.port?"),
      ("gspd: { port: 1 }", "configuration config.yaml: unknown key gspd; did you mean gpsd?"),
      ("Location: { accuracy-limit: 1 }", "unknown key Location; did you mean location?"),
      ("minimum-radius: 1", "unknown key minimum-radius; did you mean location.minimum-radius?"),
      ("state-directory: null", "state-directory is \"null\": expected a path"),
      ("gpsd: { host: ~ }", "gpsd.host is \"~\": expected a name or an address; ~ is YAML's word for \"not set\""),
      ("control-server: { url: \"http://host/x?y=1\" }", "expected http://HOST/PATH or https://HOST/PATH"),
      ("gpsd: { port: 0 }", "configuration config.yaml: gpsd.port is \"0\": expected a port, 1 to 65535"),
      ("gpsd: { port: http }", "gpsd.port is \"http\": expected a port"),
      ("gpsd: 2947", "gpsd is \"2947\": expected a group of keys below it"),
      ("gpsd: { stale-after: 5 }", "gpsd.stale-after is \"5\": expected a duration such as 250ms, 10s, 5m, 4h or 7d"),
      ("gpsd: { stale-after: 5 s }", "gpsd.stale-after is \"5 s\": expected a duration"),
      ("gpsd: { stale-after: -5s }", "expected a duration"),
      ("gpsd: { stale-after: 400d }", "from 500ms to 1h"),
      ("location: { accuracy-limit: -1 }", "location.accuracy-limit is \"-1\": expected metres, above 0"),
      ("location: { accuracy-limit: nan }", "expected metres, above 0"),
      ("control-server: { url: \"https://me:secret@host/?a\" }", "url is \"https://(hidden)@host/?a\": expected"),
      ("control-server: { url: host }", "expected http://HOST/PATH or https://HOST/PATH"),
      ("pings: { ip-version: 5 }", "pings.ip-version is \"5\": expected 4 or 6, or null"),
      ("network: { source: lte }", "network.source is \"lte\": expected auto, fixed-cellular, fixed-wifi or file:PATH"),
      ("radio: { source: fixed:6G }", "radio.source is \"fixed:6G\": expected none"),
      ("links: A", "links: expected a list of links"),
      ("links: [{ name: A }]", "links: entry 1: interface is missing: expected the name of an interface"),
      (
        "links: [{ name: A, interface: a }, { name: A, interface: b }]",
        "links: entry 2 has the name or the interface of entry 1"
      ),
      ("links: [{ name: ../A, interface: a }]", "links: entry 1: name is \"../A\": expected 1 to 32 letters"),
      ("links: [{ name: A, interface: a, radoi: none }]", "links: entry 1: unknown key radoi (did you mean radio?)"),
      (
        "links: [{ name: A, interface: a }, { name: B, interface: b, radio: fixed:6G }]",
        "links: entry 2: radio is \"fixed:6G\": expected none, auto, modem-manager, fixed:TECHNOLOGY"
      ),
      (
        "privacy: { exclusion-zones: [{ latitude: 91, longitude: 0, radius: 1 }] }",
        "privacy.exclusion-zones: entry 1: latitude: expected degrees, -90 to 90"
      ),
      (
        "privacy: { exclusion-zones: [{ latitude: 1, longitude: 0, radius: 1 }, { lat: 47.25, longitude: 11.5, radius: 1 }] }",
        "privacy.exclusion-zones: entry 2: unknown key (did you mean latitude?)"
      ),
      (
        "privacy: { exclusion-zones: [{ latitude: 1, longitude: 0 }] }",
        "privacy.exclusion-zones: entry 1: radius is missing: expected metres, above 0, at most 100000"
      ),
      ("privacy: { exclusion-zones: [47.25] }", "entry 1: expected a group of keys: latitude, longitude, radius"),
      ("privacy:\n  exclusion-zones:\n    - { latitude: 47.25, longitude 11.5 }}", "is not YAML: line 3, column"),
      (
        "gpsd:\n\tport: 1\n",
        "configuration config.yaml is not YAML: line 2 is indented by a tab, and YAML by spaces only"
      ),
      ("gpsd:\r\n\tport: 1\r\n", "line 2 is indented by a tab, and YAML by spaces only"),
      ("privacy: 47.25 11.5", "privacy is \"(hidden)\": expected a group of keys below it"),
      ("privacy: { \"47.25,11.5\": 3 }", "unknown key privacy.(hidden)"),
      ("privacy:\n  47.25: 11.5", "unknown key privacy.(hidden)"),
      ("location: { speed-limit: 1e308 }", "expected metres a second, above 0, at most 1000"),
      ("location: { maximum-speed: 1001 }", "expected metres a second, above 0, at most 1000"),
      ("links: [{ name: A, interface: lo, network: \"file:~/x\" }]", "fixed-wifi or file:PATH (without ~)"),
      ("links: [{ name: A, interface: lo, radio: \"command:~/x\" }]", "command:PATH (without ~)"),
      (
        "\u{FEFF}gpsd: { port: 1 }",
        "cannot read configuration config.yaml: it begins with a byte order mark (BOM): save it"
      ),
      ("drive: { log: yes }", "drive.log is \"yes\": expected true or false; yes, no, on and off are no booleans"),
      ("drive: { log: no }", "drive.log is \"no\": expected true or false; yes, no, on and off are no booleans"),
      (
        "state-directory: ~/probe",
        "state-directory is \"~/probe\": expected a path; ~ is not replaced by a home directory"
      ),
      ("state-directory: ~", "state-directory is \"~\": expected a path; ~ is not replaced by a home directory"),
      (
        "radio: { source: command:~/radio }",
        "radio.source is \"command:~/radio\": expected none, auto, modem-manager, fixed:TECHNOLOGY"
      ),
      ("location: { accuracy-limit: 1e300 }", "expected metres, above 0, at most 10000"),
      ("location: { minimum-radius: 10001 }", "expected metres, above 0, at most 10000"),
      ("agent: { start-speed: 1e9 }", "expected metres a second, above 0, at most 1000"),
      ("control-server: { url: \"http://host:99999/\" }", "expected http://HOST/PATH or https://HOST/PATH"),
      ("control-server: { url: \"http://:80/\" }", "expected http://HOST/PATH or https://HOST/PATH"),
      ("pings: { interface: wwan0/1 }", "pings.interface is \"wwan0/1\": expected the name of an interface, or null"),
      ("pings: { interface: wwan567890123456 }", "expected the name of an interface"),
      ("links: [{ name: A, interface: wwan567890123456 }]", "interface is \"wwan567890123456\": expected the name"),
      ("links: [{ name: A, interface: a/b }]", "interface is \"a/b\": expected the name of an interface"),
      (
        "recovery: { backoff: 10m, backoff-max: 1m }",
        "recovery.backoff (10m) is longer than recovery.backoff-max (1m): set recovery.backoff-max to 10m or more"
      ),
      ("recovery: { backoff: 1s, backoff-max: 2s, retry-delay: 3s }", "recovery.retry-delay (3s) is longer than"),
      ("submission: { backoff-max: 10s }", "submission.backoff (30s) is longer than submission.backoff-max (10s)"),
      ("submission: { breaker: { backoff: 10m } }", "submission.breaker.backoff (10m) is longer than"),
      (
        "control-server: { url: 'http://[2001:db8::1]:8080/x' }\npings: { ip-version: 4 }",
        "pings.ip-version is 4, but control-server.url names the IPv6 address 2001:db8::1, whose ping tokens"
      ),
      (
        "control-server: { url: 'https://192.0.2.1/x' }\npings: { ip-version: 6 }",
        "pings.ip-version is 6, but control-server.url names the IPv4 address 192.0.2.1"
      ),
      ("privacy: { exclusion-zones: home }", "privacy.exclusion-zones: expected a list of zones"),
      ("agent: { record: often }", "agent.record is \"often\": expected always, moving or command"),
      ("storage: { max-size: 1M }", "storage.max-size is \"1M\": expected a size such as 64M or 2G, from 16M to 1024G"),
      ("drive: { log: maybe }", "drive.log is \"maybe\": expected true or false"),
      ("drive: { log: [true] }", "drive.log is \"a list or a group\""),
      ("- 1", "configuration config.yaml is not YAML: expected keys and values at the top"),
      ("gpsd: { port: 1", "configuration config.yaml is not YAML: "),
    ])
  func mistakes(yaml: String, expected: String) throws {
    let line = try complaint(yaml)
    #expect(line.contains(expected), "\(line)")
    #expect(!line.contains("47.25") && !line.contains("11.5"), "no message has a private place: \(line)")
  }

  @Test("when the file is a pipe, as /dev/stdin is, then it is read")
  func pipe() throws {
    let pipe = Pipe()
    let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
    try pipe.fileHandleForWriting.write(contentsOf: Data("gpsd: { port: 77 }\n".utf8))
    try pipe.fileHandleForWriting.close()
    #expect(!InputFile.canBeReadAgain(path))
    #expect(!InputFile.canBeReadAgain("-"))
    #expect(try ProbeConfiguration.load(file: path, environment: [:]).gpsd.port == 77)
    let file = try folder.write("", to: "config.yaml")
    #expect(InputFile.canBeReadAgain(file))
  }

  @Test("when a file is longer than memory, then it is refused before it is read")
  func huge() throws {
    let file = try folder.write("", to: "huge.yaml")
    try #require(truncate(file, 1 << 42) == 0)
    #expect(throws: InputFileError(path: file, reason: "it is longer than 1000 bytes")) {
      try InputFile.contents(file, limit: 1000)
    }
    let error = #expect(throws: ConfigurationError.self) { try ProbeConfiguration.load(file: file, environment: [:]) }
    #expect(error.map { "\($0)".contains("it is longer than") } == true)
  }

  @Test("when the file is endless, then it is refused")
  func endless() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: "/dev/zero", environment: [:])
    }
    #expect("\(try #require(error))" == "cannot read configuration /dev/zero: it is longer than 1048576 bytes")
  }

  @Test(
    "when the key without a default is missing, then the line names the file to set it in, or reports that there is none"
  )
  func missingKey() {
    let key = "control-server.url"
    #expect(
      "\(ConfigurationError.missing(key: key, purpose: "there is no server to submit to", file: nil))"
        == "control-server.url is not set: there is no server to submit to; no --config FILE is given")
    #expect("\(ConfigurationError.missing(key: key, purpose: "x", file: "a.yaml"))".hasSuffix("x; set it in a.yaml"))
  }

  @Test("when a variable is wrong, then the line names the variable")
  func environmentMistakes() throws {
    let unknown = try complaint("{}", environment: ["COVERAGE_PROBE_GPSD_PROT": "1"])
    #expect(unknown == "environment: unknown key COVERAGE_PROBE_GPSD_PROT; did you mean COVERAGE_PROBE_GPSD_PORT?")
    let bad = try complaint("{}", environment: ["COVERAGE_PROBE_GPSD_PORT": "x"])
    #expect(bad == "environment: COVERAGE_PROBE_GPSD_PORT is \"x\": expected a port, 1 to 65535")
  }

  @Test("when the file is missing, then the line names it")
  func missingFile() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: "/nowhere/config.yaml", environment: [:])
    }
    #expect("\(try #require(error))" == "cannot read configuration /nowhere/config.yaml: No such file or directory")
  }

  @Test("when the file is a folder, then the line reports it")
  func folderForFile() throws {
    let error = #expect(throws: ConfigurationError.self) {
      try ProbeConfiguration.load(file: folder.path, environment: [:])
    }
    #expect("\(try #require(error))" == "cannot read configuration \(folder.path): Is a directory")
  }

  @Test(
    "when a duration has any unit, then it is read",
    arguments: [
      ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("4h", .seconds(14_400)),
      ("7d", .seconds(604_800)), ("0s", .zero),
    ])
  func durations(text: String, duration: Duration) {
    #expect(DurationText.duration(text) == duration)
  }

  @Test(
    "when a duration is malformed, then it is refused", arguments: ["", "s", "5", "5 s", "-5s", "1.5s", "5sec", "٥s"])
  func nonsenseDurations(text: String) {
    #expect(DurationText.duration(text) == nil)
  }

  @Test("when a size has a unit, then it is read; any other text is refused")
  func sizes() {
    #expect(["8192", "64K", "16M", "1g"].map(SizeText.bytes) == [8192, 65536, 16 << 20, 1 << 30])
    for text in ["", "M", "1.5M", "-1", "16MB", "99999999999999999999", "9999999999G"] {
      #expect(SizeText.bytes(text) == nil, "\(text)")
    }
  }
}
