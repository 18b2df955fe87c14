import Coverage
import Foundation
import Networking
import Pinging
import SystemServices
import Testing

@testable import Settings

/// Each setting writes its own field of the configuration, and no other.
struct SettingFieldTests {
  /// A key, a text that is not its default, and the field that has to change, as its path and its value.
  struct Row: Sendable, CustomTestStringConvertible {
    let key: String
    let text: String
    let field: String
    let value: String

    init(_ key: String, _ text: String, _ field: String, _ value: String) {
      (self.key, self.text, self.field, self.value) = (key, text, field, value)
    }

    var testDescription: String { key }
  }

  private static let rows: [Row] = [
    Row("state-directory", "/srv/probe", "stateDirectory", "/srv/probe"),
    Row("control-server.url", "http://host/a/", "controlServer.url", "http://host/a"),
    Row("control-server.ca-file", "/ca.pem", "controlServer.caFile", "/ca.pem"),
    Row("control-server.request-timeout", "1500ms", "controlServer.requestTimeout", "1.5 seconds"),
    Row("gpsd.host", "receiver", "gpsd.host", "receiver"),
    Row("gpsd.port", "65535", "gpsd.port", "65535"),
    Row("gpsd.device", "/dev/ttyACM0", "gpsd.device", "/dev/ttyACM0"),
    Row("gpsd.stale-after", "500ms", "gpsd.staleAfter", "0.5 seconds"),
    Row("location.accuracy-limit", "12.25", "location.accuracyLimit", "12.25"),
    Row("location.minimum-radius", "21", "location.minimumRadius", "21.0"),
    Row("location.maximum-speed", "90", "location.maximumSpeed", "90.0"),
    Row("location.speed-limit", "91", "location.speedLimit", "91.0"),
    Row("location.warning-after", "7s", "location.warningAfter", "7.0 seconds"),
    Row("location.give-up-after", "8m", "location.giveUpAfter", "480.0 seconds"),
    Row("pings.interval", "10ms", "pings.interval", "0.01 seconds"),
    Row("pings.timeout", "60s", "pings.timeout", "60.0 seconds"),
    Row("pings.interface", "wwan0", "pings.interface", "wwan0"),
    Row("pings.ip-version", "6", "pings.family", "IPv6"),
    Row("pings.target.host", "target.example", "pings.target.host", "target.example"),
    Row("pings.target.port", "4440", "pings.target.port", "4440"),
    Row("pings.target.protocol", "rtr", "pings.target.kind", "rtr"),
    Row("pings.target.secret-file", "/secret", "pings.target.secretFile", "/secret"),
    Row("recovery.failure-threshold", "10000", "recovery.failureThreshold", "10000"),
    Row("recovery.backoff", "11s", "recovery.backoff", "11.0 seconds"),
    Row("recovery.backoff-max", "1d", "recovery.backoffMax", "86400.0 seconds"),
    Row("recovery.prepare-timeout", "13s", "recovery.prepareTimeout", "13.0 seconds"),
    Row("recovery.activation-timeout", "14s", "recovery.activationTimeout", "14.0 seconds"),
    Row("recovery.retry-delay", "100ms", "recovery.retryDelay", "0.1 seconds"),
    Row("network.source", "fixed-wifi", "network", "fixed-wifi"),
    Row("radio.source", "fixed:5G/NR", "radio", "fixed:5G/NR"),
    Row("radio.configure-modem", "false", "configuresModem", "false"),
    Row("links", "[{ name: A, interface: lo }]", "links", "A lo"),
    Row("privacy.exclusion-zones", "[{ latitude: 1, longitude: 2, radius: 3 }]", "exclusionZones", "1.0 2.0 3.0"),
    Row("submission.max-age", "1m", "submission.maxAge", "60.0 seconds"),
    Row("submission.keep", "2m", "submission.keep", "120.0 seconds"),
    Row("submission.legacy-threshold", "0s", "submission.legacyThreshold", "0.0 seconds"),
    Row("submission.spread", "3s", "submission.spread", "3.0 seconds"),
    Row("submission.backoff", "4s", "submission.backoff", "4.0 seconds"),
    Row("submission.backoff-max", "6m", "submission.backoffMax", "360.0 seconds"),
    Row("submission.breaker.threshold", "1000", "submission.breakerThreshold", "1000"),
    Row("submission.breaker.backoff", "6s", "submission.breakerBackoff", "6.0 seconds"),
    Row("submission.breaker.backoff-max", "7h", "submission.breakerBackoffMax", "25200.0 seconds"),
    Row("storage.max-size", "16M", "storage.maxSize", "16777216"),
    Row("storage.max-fences", "1000", "storage.maxFences", "1000"),
    Row("drive.maximum-duration", "365d", "drive.maximumDuration", "31536000.0 seconds"),
    Row("drive.log", "false", "drive.log", "false"),
    Row("agent.record", "moving", "agent.record", "moving"),
    Row("agent.start-speed", "1000", "agent.startSpeed", "1000.0"),
    Row("agent.rest", "1d", "agent.rest", "86400.0 seconds"),
    Row("agent.resend-interval", "10s", "agent.resendInterval", "10.0 seconds"),
    Row("agent.socket", "/run/probe.sock", "agent.socket", "/run/probe.sock"),
    Row("agent.socket-group", "users", "agent.socketGroup", "users"),
    Row("agent.page", "[::1]:8088", "agent.page", "[::1]:8088"),
    Row("agent.basemap", "/srv/base.mbtiles", "agent.basemap", "/srv/base.mbtiles"),
    Row("agent.loop", "with-drive", "agent.loop", "withDrive"),
    Row("speedtest.data-limit.day", "500M", "speedTest.dataLimitOfDay", "524288000"),
    Row("speedtest.data-limit.month", "20G", "speedTest.dataLimitOfMonth", "21474836480"),
    Row("speedtest.verify-certificate", "false", "speedTest.verifiesCertificate", "false"),
    Row("speedtest.qos", "true", "speedTest.qos", "true"),
    Row("speedtest.qos-tls", "never", "speedTest.qosTLS", "never"),
    Row("speedtest.coverage-pings", "continue", "speedTest.coveragePings", "continue"),
    Row("loop.count", "7", "loop.count", "7"),
    Row("loop.every", "20m", "loop.every", "1200.0 seconds"),
    Row("loop.distance", "100", "loop.distance", "100.0"),
    Row("loop.duration", "2h", "loop.duration", "7200.0 seconds"),
    Row("loop.after-restart", "end", "loop.resumes", "false"),
    Row("loop.links", "any", "loop.allowsOtherLinks", "true"),
    Row("loop.hook", "/a", "loop.hook", "/a"),
    Row("report.least-difference.delay", "20ms", "report.leastDelay", "0.02 seconds"),
    Row("report.least-difference.loss", "0.5", "report.leastLoss", "0.5"),
    Row("report.least-difference.coverage", "0", "report.leastCoverage", "0.0"),
  ]

  /// All fields by their paths, as texts.
  private func fields(_ configuration: ProbeConfiguration) -> [String: String] {
    var fields: [String: String] = [:]
    func read(_ value: Any, at path: String) {
      switch value {
      case let links as [LinkSettings]:
        fields[path] = links.map { "\($0.name ?? "-") \($0.interface ?? "-")" }.joined()
      case let zones as [ExclusionZone]:
        fields[path] = zones.map { "\($0.centre.latitude) \($0.centre.longitude) \($0.radius)" }.joined()
      case let source as PathSource: fields[path] = source == .fixed(.wifi) ? "fixed-wifi" : "another"
      case let source as RadioSource: fields[path] = source == .fixed(Technology("5G/NR")) ? "fixed:5G/NR" : "another"
      case let number as Double: fields[path] = "\(number)"
      default:
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
          guard let content = mirror.children.first?.value else { return fields[path] = "none" }
          read(content, at: path)
        case .struct where !(value is any CustomStringConvertible):
          for child in mirror.children { read(child.value, at: (path.isEmpty ? "" : path + ".") + (child.label ?? "")) }
        default: fields[path] = "\(value)"
        }
      }
    }
    read(configuration, at: "")
    return fields
  }

  @Test("when a key has a value, then only its field changes", arguments: rows)
  func ownField(row: Row) throws {
    let setting = try #require(Setting.all.first { $0.key == row.key })
    var configuration = ProbeConfiguration()
    let before = fields(configuration)
    #expect(setting.apply(&configuration, row.text))
    let after = fields(configuration)
    let changed = after.keys.filter { after[$0] != before[$0] }
    #expect(changed == [row.field])
    #expect(after[row.field] == row.value)
  }

  @Test("when a key's value is copied to another configuration, then no other field is copied", arguments: rows)
  func copies(row: Row) throws {
    let setting = try #require(Setting.all.first { $0.key == row.key })
    var (source, target) = (ProbeConfiguration(), ProbeConfiguration())
    for other in Self.rows {
      let setting = try #require(Setting.all.first { $0.key == other.key })
      #expect(setting.apply(&source, other.text))
    }
    let before = fields(target)
    setting.copy(source, &target)
    let after = fields(target)
    #expect(after[row.field] == row.value)
    #expect(after.keys.filter { after[$0] != before[$0] && $0 != row.field }.isEmpty)
  }

  @Test("when a key is declared, then this table has it")
  func complete() {
    #expect(Setting.all.map(\.key) == Self.rows.map(\.key))
    #expect(Set(Self.rows.map(\.field)).count == Self.rows.count)
  }

  @Test("when a variable sets a key, then its name is the key in capitals, and its value equals the value in a file")
  func variables() throws {
    var environment: [String: String] = [:]
    for row in Self.rows {
      let name = row.key.uppercased().map { "-.".contains($0) ? "_" : String($0) }.joined()
      environment["COVERAGE_PROBE_\(name)"] = row.text
    }
    let fields = fields(try ProbeConfiguration.load(file: nil, environment: environment))
    for row in Self.rows { #expect(fields[row.field] == row.value, "\(row.key)") }
  }
}
