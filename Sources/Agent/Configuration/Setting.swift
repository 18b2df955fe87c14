import Foundation
import NetworkPath
import Pinging
import Yams

/// One key of the configuration: its name, what it expects, and where its value goes.
struct Setting {
  let key: String
  /// For a person: completes "expected ...".
  let expects: String
  /// Whether its value in a file is a list; as text it is that list on one line.
  var takesList = false
  /// What is wrong with a text that is no value of this setting, where more can be said than what is expected.
  var explanation: (String) -> String? = { text in
    text == "~" ? "~ is YAML's word for \"not set\", which this key cannot be" : nil
  }
  /// - Returns: `false` for a text that is no value of this setting. `nil` (`null` in the file) is one of optional ones only.
  let apply: (inout ProbeConfiguration, String?) -> Bool

  /// When a service that runs can follow a change of the key.
  enum Reload: String, Hashable {
    case atOnce = "at once"
    case nextDrive = "with the next drive"
    case restart = "after a restart of the service"
  }

  var reload: Reload {
    // The receiver's filters and the rhythm of sending begin with the service.
    let fixed = [
      "location.maximum-speed", "location.speed-limit", "privacy.exclusion-zones", "agent.socket",
      "agent.resend-interval",
    ]
    if fixed.contains(key) { return .restart }
    return switch key.prefix(while: { $0 != "." }) {
    case "agent": .atOnce
    case "state-directory", "control-server", "gpsd", "submission", "storage": .restart
    default: .nextDrive
    }
  }

  /// The environment variable of the key.
  var variable: String {
    Self.variablePrefix + key.uppercased().map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
  }

  static let variablePrefix = "COVERAGE_PROBE_"

  /// Every key there is.
  static var all: [Setting] {
    [
      withPath(required("state-directory", "a path", \.stateDirectory, path)),
      optional("control-server.url", "http://HOST/PATH or https://HOST/PATH", \.controlServer.url, url),
      withPath(optional("control-server.ca-file", "a path", \.controlServer.caFile, path)),
      duration("control-server.request-timeout", \.controlServer.requestTimeout, 1...3600),
      required("gpsd.host", "a name or an address", \.gpsd.host, word),
      required("gpsd.port", "a port, 1 to 65535", \.gpsd.port, number(1...65_535)),
      optional("gpsd.device", "a device path as gpsd calls it", \.gpsd.device, word),
      duration("gpsd.stale-after", \.gpsd.staleAfter, 0.5...3600),
      required(
        "location.accuracy-limit", "metres, above 0, at most 10000", \.location.accuracyLimit, number(upTo: 10_000)),
      required(
        "location.minimum-radius", "metres, above 0, at most 10000", \.location.minimumRadius, number(upTo: 10_000)),
      optional("location.maximum-speed", "metres a second, above 0", \.location.maximumSpeed, metres),
      optional("location.speed-limit", "metres a second, above 0", \.location.speedLimit, metres),
      duration("location.warning-after", \.location.warningAfter, 0...86_400),
      duration("location.give-up-after", \.location.giveUpAfter, 1...604_800),
      duration("pings.interval", \.pings.interval, 0.01...60),
      duration("pings.timeout", \.pings.timeout, 0.01...60),
      optional("pings.interface", "the name of an interface", \.pings.interface, LinkSettings.interface),
      optional("pings.ip-version", "4 or 6", \.pings.family) { Int($0).flatMap(PingAddress.Family.init) },
      required("recovery.failure-threshold", "a number, 1 to 10000", \.recovery.failureThreshold, number(1...10_000)),
      duration("recovery.backoff", \.recovery.backoff, 0.1...86_400),
      duration("recovery.backoff-max", \.recovery.backoffMax, 0.1...86_400),
      duration("recovery.prepare-timeout", \.recovery.prepareTimeout, 0.1...3600),
      duration("recovery.activation-timeout", \.recovery.activationTimeout, 0.1...3600),
      duration("recovery.retry-delay", \.recovery.retryDelay, 0.1...60),
      source("network.source", "auto, fixed-cellular, fixed-wifi or file:PATH", \.network, PathSource.init),
      source(
        "radio.source", "none, fixed:TECHNOLOGY (such as fixed:4G/LTE) or command:PATH", \.radio, RadioSource.init),
      list("links", LinkList.expectation, \.links, LinkList.parse),
      list("privacy.exclusion-zones", ExclusionZoneList.expectation, \.exclusionZones, ExclusionZoneList.parse),
      duration("submission.max-age", \.submission.maxAge, 60...31_536_000),
      duration("submission.keep", \.submission.keep, 60...315_360_000),
      duration("submission.legacy-threshold", \.submission.legacyThreshold, 0...31_536_000),
      duration("submission.spread", \.submission.spread, 0...3600),
      duration("submission.backoff", \.submission.backoff, 1...86_400),
      duration("submission.backoff-max", \.submission.backoffMax, 1...86_400),
      required(
        "submission.breaker.threshold", "a number, 1 to 1000", \.submission.breakerThreshold, number(1...1000)),
      duration("submission.breaker.backoff", \.submission.breakerBackoff, 1...86_400),
      duration("submission.breaker.backoff-max", \.submission.breakerBackoffMax, 1...86_400),
      required("storage.max-size", "a size such as 64M or 2G, from 16M to 1024G", \.storage.maxSize, size),
      required(
        "storage.max-fences", "a number, 1000 to 100000000", \.storage.maxFences, number(1000...100_000_000)),
      duration("drive.maximum-duration", \.drive.maximumDuration, 1...31_536_000),
      boolean("drive.log", \.drive.log),
      required("agent.record", "always, moving or command", \.agent.record, RecordingRule.init(rawValue:)),
      required("agent.start-speed", "metres a second, above 0, at most 1000", \.agent.startSpeed, number(upTo: 1000)),
      duration("agent.rest", \.agent.rest, 1...86_400),
      duration("agent.resend-interval", \.agent.resendInterval, 10...604_800),
      withPath(optional("agent.socket", "a path", \.agent.socket, path)),
    ]
  }

  // MARK: Kinds of settings

  private static func required<Value>(
    _ key: String, _ expects: String, _ path: WritableKeyPath<ProbeConfiguration, Value>,
    _ parse: @escaping (String) -> Value?
  ) -> Setting {
    Setting(key: key, expects: expects) { configuration, text in
      guard let value = text.flatMap(parse) else { return false }
      configuration[keyPath: path] = value
      return true
    }
  }

  private static func optional<Value>(
    _ key: String, _ expects: String, _ path: WritableKeyPath<ProbeConfiguration, Value?>,
    _ parse: @escaping (String) -> Value?
  ) -> Setting {
    Setting(key: key, expects: expects + ", or null") { configuration, text in
      let value = text.flatMap(parse)
      guard text == nil || value != nil else { return false }
      configuration[keyPath: path] = value
      return true
    }
  }

  private static func list<Entry>(
    _ key: String, _ expects: String, _ path: WritableKeyPath<ProbeConfiguration, [Entry]>,
    _ parse: @escaping (Node) throws(ListMistake) -> [Entry]
  ) -> Setting {
    func entries(_ text: String) throws -> [Entry] {
      guard let node = try Yams.compose(yaml: text) else { throw ListMistake("") }
      return try parse(node)
    }
    func explanation(_ text: String) -> String? {
      do {
        _ = try entries(text)
        return nil
      } catch let mistake as ListMistake {
        return mistake.reason.isEmpty ? nil : mistake.reason
      } catch {
        return nil
      }
    }
    return Setting(key: key, expects: expects, takesList: true, explanation: explanation) { configuration, text in
      guard let entries = try? text.map(entries) ?? [] else { return false }
      configuration[keyPath: path] = entries
      return true
    }
  }

  private static func boolean(_ key: String, _ path: WritableKeyPath<ProbeConfiguration, Bool>) -> Setting {
    var setting = required(key, "true or false", path) { ["true": true, "false": false][$0] }
    setting.explanation = { text in
      ["yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        ? "yes, no, on and off are no booleans" : nil
    }
    return setting
  }

  /// Of a path: nothing replaces ~ but a shell.
  private static func withPath(_ setting: Setting) -> Setting {
    var setting = setting
    setting.explanation = {
      $0.hasPrefix("~") ? "~ is not replaced by a home directory here, write the whole path" : nil
    }
    return setting
  }

  /// A word, or one with a path behind it.
  private static func source<Value>(
    _ key: String, _ expects: String, _ path: WritableKeyPath<ProbeConfiguration, Value>,
    _ parse: @escaping (String) -> Value?
  ) -> Setting {
    var setting = required(key, expects, path) { $0.contains(":~") ? nil : parse($0) }
    setting.explanation = { text in
      text.contains(":~") ? "~ is not replaced by a home directory here, write the whole path" : nil
    }
    return setting
  }

  private static func duration(
    _ key: String, _ path: WritableKeyPath<ProbeConfiguration, Duration>, _ seconds: ClosedRange<Double>
  ) -> Setting {
    let range = "\(DurationText.text(seconds.lowerBound)) to \(DurationText.text(seconds.upperBound))"
    return required(key, "a duration such as 250ms, 10s, 5m, 4h or 7d, from \(range)", path) { text in
      DurationText.duration(text).flatMap { seconds.contains($0.inSeconds) ? $0 : nil }
    }
  }

  // MARK: Values

  private static func path(_ text: String) -> String? { text.isEmpty || text.hasPrefix("~") ? nil : text }

  private static func word(_ text: String) -> String? {
    text.isEmpty || text.contains(where: \.isWhitespace) ? nil : text
  }

  private static func url(_ text: String) -> String? {
    let prefix = ["https://", "http://"].first { text.hasPrefix($0) }
    guard let prefix, text.count > prefix.count, word(text) != nil, !text.contains(where: { $0 == "?" || $0 == "#" }),
      let parts = URLComponents(string: text), parts.host?.isEmpty == false,
      parts.port.map((1...65_535).contains) ?? true
    else { return nil }
    return String(text.reversed().drop { $0 == "/" }.reversed())
  }

  private static func number(_ range: ClosedRange<Int>) -> (String) -> Int? {
    { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
  }

  private static func size(_ text: String) -> Int64? {
    SizeText.bytes(text).flatMap { (16 << 20...1 << 40).contains($0) ? Int64($0) : nil }
  }

  private static func number(upTo greatest: Double) -> (String) -> Double? {
    { text in metres(text).flatMap { $0 <= greatest ? $0 : nil } }
  }

  private static func metres(_ text: String) -> Double? {
    Double(text).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
  }
}
