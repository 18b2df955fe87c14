import TestSupport
import Testing

@testable import Settings

struct ConfigurationReloadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func load(_ yaml: String) throws -> ProbeConfiguration {
    try .load(file: try folder.write(yaml, to: "config.yaml"), environment: [:])
  }

  private func reload(_ old: String, _ new: String) throws -> ConfigurationReload {
    ConfigurationReload(from: try load(old), to: try load(new))
  }

  @Test("when the configuration has not changed, then the line reports that")
  func unchanged() throws {
    let reload = try reload("gpsd: { port: 1 }", "gpsd: { port: 1 }")
    #expect(reload.lines == ["the configuration is read again; nothing has changed in it"])
  }

  @Test("when settings change, then each is listed by the time from which it applies")
  func lines() throws {
    let reload = try reload(
      "{}", "{ agent: { rest: 7m }, pings: { interval: 1s }, gpsd: { port: 1 }, location: { speed-limit: 50 } }")
    #expect(
      reload.lines == [
        "the configuration is read again; at once: agent.rest",
        "the configuration is read again; with the next drive: pings.interval",
        "the configuration is read again; after a restart of the service: gpsd.port, location.speed-limit",
      ])
    #expect(reload.configuration.agent.rest == .seconds(420))
    #expect(reload.configuration.pings.interval == .seconds(1))
  }

  @Test("when a reload would leave a drive without anything to ping, then the target stays until the restart")
  func target() throws {
    let reload = try reload("pings: { target: { host: a.example } }", "control-server: { url: 'http://host/x' }")
    #expect(reload.configuration.pings.target.host == "a.example")
    #expect(
      reload.lines == [
        "the configuration is read again; after a restart of the service: control-server.url, pings.target.host"
      ])
  }

  @Test("when a reload forces an IP version that the old server's address is not of, then that waits for the restart")
  func family() throws {
    let reload = try reload(
      "control-server: { url: 'http://192.0.2.1/x' }",
      "{ control-server: { url: 'http://host/x' }, pings: { ip-version: 6 } }")
    #expect(reload.configuration.pings.family == nil)
    let end = "after a restart of the service: control-server.url, pings.ip-version"
    #expect(reload.lines.map { $0.hasSuffix(end) } == [true])
  }

  /// A value of each setting that needs a restart, other than its default.
  private static let restartTexts = [
    "state-directory": "/elsewhere", "control-server.url": "http://host/", "control-server.ca-file": "/a.pem",
    "control-server.request-timeout": "3s", "gpsd.host": "host", "gpsd.port": "1", "gpsd.device": "/dev/x",
    "gpsd.stale-after": "9s", "location.maximum-speed": "50", "location.speed-limit": "50",
    "privacy.exclusion-zones": "[{ latitude: 1, longitude: 2, radius: 3 }]", "submission.max-age": "1d",
    "submission.keep": "1d", "submission.legacy-threshold": "1m", "submission.spread": "1s",
    "submission.backoff": "2s", "submission.backoff-max": "400s", "submission.breaker.threshold": "9",
    "submission.breaker.backoff": "2s", "submission.breaker.backoff-max": "400s", "storage.max-size": "64M",
    "storage.max-fences": "5000", "agent.resend-interval": "1m", "agent.socket": "/a.sock",
    "agent.socket-group": "users", "agent.page": "127.0.0.1:8088", "agent.basemap": "/base.pmtiles",
    "agent.loop": "with-drive", "speedtest.data-limit.day": "500M", "speedtest.data-limit.month": "20G",
    "speedtest.verify-certificate": "false", "speedtest.qos": "true", "speedtest.qos-tls": "never",
    "speedtest.coverage-pings": "continue", "loop.count": "7", "loop.every": "20m", "loop.distance": "100",
    "loop.duration": "2h", "loop.after-restart": "end", "loop.links": "any",
    "loop.hook": "/a",
  ]

  @Test("when a setting needs a restart, then its old value stays, and each reload names it again", arguments: keys)
  func restart(key: String) throws {
    let text = try #require(Self.restartTexts[key], "give \(key) a value in this test")
    let setting = try #require(Setting.all.first { $0.key == key })
    let old = ProbeConfiguration()
    var new = old
    #expect(setting.apply(&new, text))
    new.texts[key] = text
    let first = ConfigurationReload(from: old, to: new)
    #expect("\(first.configuration)" == "\(old)", "every field is unchanged")
    let second = ConfigurationReload(from: first.configuration, to: new)
    #expect(second.lines == ["the configuration is read again; after a restart of the service: \(key)"])
  }

  private static var keys: [String] { Setting.all.filter { $0.reload == .restart }.map(\.key) }
}
