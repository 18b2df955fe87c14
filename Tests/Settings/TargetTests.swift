import Coverage
import TestSupport
import Testing

@testable import Settings

/// `pings.target`: a drive without a control server.
struct TargetTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(_ target: String, more: String = "") throws -> ProbeConfiguration {
    try .load(file: try folder.write("pings: { target: \(target)\(more) }", to: "config.yaml"), environment: [:])
  }

  @Test("when a host stands alone, then it is pinged by ICMP, and no other key is needed")
  func least() throws {
    #expect(try load("{ host: 192.0.2.1 }").pings.target.target == DriveTarget(.icmp, host: "192.0.2.1"))
    #expect(try load("{ host: null }").pings.target.target == nil)
    #expect(ProbeConfiguration().pings.target.target == nil)
  }

  @Test("when the whole group is set, then each protocol gets what it needs")
  func whole() throws {
    let echo = try load("{ host: echo.example, port: 7, protocol: udp-echo }").pings.target
    #expect(echo.target == DriveTarget(.udpEcho, host: "echo.example", port: 7))
    let rtr = try load("{ host: \"2001:db8::1\", port: 4440, protocol: rtr, secret-file: /etc/secret }").pings.target
    #expect(rtr.target == DriveTarget(.rtr, host: "2001:db8::1", port: 4440))
    #expect(rtr.secretFile == "/etc/secret")
    #expect(rtr.target.map { "\($0)" } == "rtr [2001:db8::1]:4440")
    #expect(echo.target.map { "\($0)" } == "udp-echo echo.example:7")
  }

  @Test(
    "when parts do not go together, then the line names the keys",
    arguments: [
      ("{ port: 7 }", "pings.target.port is set, but pings.target.host is not: set it, or remove pings.target.port"),
      (
        "{ protocol: rtr }",
        "pings.target.protocol is set, but pings.target.host is not: set it, or remove pings.target.protocol"
      ),
      (
        "{ host: a.example, port: 7 }",
        "pings.target.port is 7, but pings.target.protocol is icmp, which has no ports: remove pings.target.port"
      ),
      (
        "{ host: a.example, protocol: udp-echo }",
        "pings.target.protocol is udp-echo, but pings.target.port is not set: set it"
      ),
      ("{ host: a.example, protocol: rtr }", "pings.target.protocol is rtr, but pings.target.port is not set: set it"),
      (
        "{ host: a.example, port: 4440, protocol: rtr }",
        "pings.target.protocol is rtr, but pings.target.secret-file is not set: name a file with the secret of the target"
      ),
      (
        "{ host: a.example, secret-file: /etc/secret }",
        "pings.target.secret-file is set, but pings.target.protocol is icmp, which has no secret: remove "
          + "pings.target.secret-file"
      ),
      (
        "{ host: 192.0.2.1 }, ip-version: 6",
        "pings.ip-version is 6, but pings.target.host is the IPv4 address 192.0.2.1"
      ),
    ])
  func contradictions(target: String, line: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try load(target) }
    #expect("\(try #require(error))" == line)
  }

  @Test(
    "when a value cannot be one, then the line names its key",
    arguments: [
      ("{ host: \"http://a.example\" }", "pings.target.host is \"http://a.example\""),
      ("{ host: \"a.example:7\" }", "pings.target.host is \"a.example:7\""),
      ("{ host: a, port: 0, protocol: rtr }", "pings.target.port is \"0\""),
      ("{ host: a, port: 65536, protocol: rtr }", "pings.target.port is \"65536\""),
      ("{ host: a, protocol: tcp }", "pings.target.protocol is \"tcp\": expected icmp, udp-echo or rtr"),
    ])
  func badValues(target: String, words: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try load(target) }
    #expect("\(try #require(error))".contains(words))
  }

  @Test("when the target changes while the service runs, then the next drive has it")
  func reload() throws {
    let reload = ConfigurationReload(from: try load("{ host: a.example }"), to: try load("{ host: b.example }"))
    #expect(reload.configuration.pings.target.host == "b.example")
    #expect(reload.lines == ["the configuration is read again; with the next drive: pings.target.host"])
  }

  @Test("when all settings have their defaults, then their listing is a configuration too")
  func defaultListing() throws {
    let yaml = ConfigurationListing(ConfigurationReading(file: nil, environment: [:])).yaml
    let again = try ProbeConfiguration.load(file: try folder.write(yaml, to: "again.yaml"), environment: [:])
    #expect(again.pings.target == TargetSettings())
  }

  @Test("when the settings are listed, then the listing is a configuration again")
  func listing() throws {
    _ = try load("{ host: a.example, port: 7, protocol: udp-echo }")
    let reading = ConfigurationReading(file: folder.file("config.yaml"), environment: [:])
    let again = try ProbeConfiguration.load(
      file: try folder.write(ConfigurationListing(reading).yaml, to: "again.yaml"), environment: [:])
    #expect(again.pings.target == reading.configuration.pings.target)
  }
}
