import Configuration
import Foundation
import Pinging
import Yams

extension ProbeConfiguration {
  /// Reads the settings: environment over file over defaults.
  /// - Parameters:
  ///   - file: A YAML file; `nil` for none.
  ///   - defaults: What counts where neither says anything.
  /// - Throws: ``ConfigurationError``
  public static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    defaults: ProbeConfiguration = ProbeConfiguration()
  ) async throws -> ProbeConfiguration {
    let settings = Setting.all
    let variables = environment.filter { $0.key.hasPrefix(Setting.variablePrefix) }
    try checkNames(of: variables, settings)
    var providers: [any ConfigProvider] = [
      EnvironmentVariablesProvider(
        environmentVariables: Dictionary(
          uniqueKeysWithValues: variables.map { (String($0.key.dropFirst(Setting.variablePrefix.count)), $0.value) }))
    ]
    if let file {
      let values = try values(of: file, settings)
      providers.append(
        InMemoryProvider(
          values: Dictionary(
            uniqueKeysWithValues: values.map {
              (AbsoluteConfigKey(ConfigKey($0.key)), .init(.string($0.value), isSecret: false))
            })))
    }
    let reader = ConfigReader(providers: providers)
    var configuration = defaults
    for setting in settings {
      guard let text = reader.string(forKey: ConfigKey(setting.key)) else { continue }
      guard setting.apply(&configuration, isNothing(text) ? nil : text) else {
        let isFromEnvironment = variables[setting.variable] != nil
        throw mistake(
          text, of: setting, named: isFromEnvironment ? setting.variable : setting.key,
          in: isFromEnvironment ? "environment" : "configuration \(file ?? "")")
      }
      configuration.texts[setting.key] = text
    }
    try configuration.checkWaits()
    try configuration.checkFamily()
    configuration.file = file
    return configuration
  }

  /// The control server makes ping tokens for the address that a request comes from.
  private func checkFamily() throws {
    guard let family = pings.family, let host = controlServer.url.flatMap({ URL(string: $0)?.host() }) else { return }
    let numeric = host.trimmingCharacters(in: ["[", "]"])
    guard let address = PingAddress(numeric: numeric, port: 0), address.family != family else { return }
    throw ConfigurationError.otherFamily(ipVersion: family.rawValue, host: numeric)
  }

  private static func mistake(
    _ text: String, of setting: Setting, named name: String, in place: String
  ) -> ConfigurationError {
    if setting.takesList {
      return .badList(key: name, place: place, reason: setting.explanation(text) ?? "expected \(setting.expects)")
    }
    let advice = setting.explanation(text).map { "; \($0)" } ?? ""
    return .badValue(key: name, value: shown(text, of: setting), place: place, expected: setting.expects + advice)
  }

  /// Waits that double never exceed the last one, which they cannot where they begin above it.
  private func checkWaits() throws {
    let ladders: [(key: String, first: Duration, lastKey: String, last: Duration)] = [
      ("recovery.backoff", recovery.backoff, "recovery.backoff-max", recovery.backoffMax),
      ("recovery.retry-delay", recovery.retryDelay, "recovery.backoff-max", recovery.backoffMax),
      ("submission.backoff", submission.backoff, "submission.backoff-max", submission.backoffMax),
      (
        "submission.breaker.backoff", submission.breakerBackoff, "submission.breaker.backoff-max",
        submission.breakerBackoffMax
      ),
    ]
    for ladder in ladders where ladder.first > ladder.last {
      throw ConfigurationError.contradiction(
        key: ladder.key, value: DurationText.text(ladder.first.inSeconds),
        lastKey: ladder.lastKey, last: DurationText.text(ladder.last.inSeconds))
    }
  }

  private static func checkNames(of variables: [String: String], _ settings: [Setting]) throws {
    let known = settings.map(\.variable)
    for name in variables.keys.sorted() where !known.contains(name) {
      throw ConfigurationError.unknownKey(
        name, place: "environment", nearest: ConfigurationName.nearest(to: name, among: known))
    }
  }

  /// - Returns: The text of each key that the file sets. A file of comments alone says nothing, which is no mistake.
  private static func values(of file: String, _ settings: [Setting]) throws -> [String: String] {
    guard let root = try ConfigurationText.root(of: file), !isNothing(root) else { return [:] }
    guard let mapping = root.mapping else {
      throw ConfigurationError.malformed(file: file, reason: "expected keys and values at the top")
    }
    var values: [String: String] = [:]
    try take(mapping, below: "", file: file, settings, into: &values)
    return values
  }

  private static func take(
    _ mapping: Node.Mapping, below parent: String, file: String, _ settings: [Setting],
    into values: inout [String: String]
  ) throws {
    for (name, value) in mapping {
      let key = parent + (name.string ?? "?")
      if let setting = settings.first(where: { $0.key == key }) {
        values[key] = try text(of: value, setting, file: file)
      } else if settings.contains(where: { $0.key.hasPrefix(key + ".") }) {
        guard !isNothing(value) else { continue }
        guard let group = value.mapping else {
          throw ConfigurationError.badValue(
            key: key, value: value.string ?? "a list", place: "configuration \(file)",
            expected: "a group of keys below it")
        }
        try take(group, below: key + ".", file: file, settings, into: &values)
      } else {
        throw ConfigurationError.unknownKey(
          key, place: "configuration \(file)", nearest: ConfigurationName.nearest(to: key, among: names(settings)))
      }
    }
  }

  private static func text(of value: Node, _ setting: Setting, file: String) throws -> String {
    if let scalar = value.scalar { return scalar.string }
    if setting.takesList, value.sequence != nil, let text = try? Yams.serialize(node: value) { return text }
    throw ConfigurationError.badValue(
      key: setting.key, value: "a list or a group", place: "configuration \(file)", expected: setting.expects)
  }

  /// What a message may repeat: of a URL not what stands before its `@`, a password perhaps.
  private static func shown(_ text: String, of setting: Setting) -> String {
    let line = oneLine(text)
    guard setting.key == "control-server.url", let at = line.lastIndex(of: "@") else { return line }
    return "(hidden)" + line[at...]
  }

  private static func isNothing(_ text: String) -> Bool { ["", "~", "null"].contains(text.lowercased()) }

  private static func isNothing(_ node: Node) -> Bool { node.scalar.map { isNothing($0.string) } ?? false }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && $0 != "^" }.joined(separator: " ")
  }

  /// All keys and the groups that they are in.
  private static func names(_ settings: [Setting]) -> [String] {
    settings.reduce(into: []) { names, setting in
      let parts = setting.key.split(separator: ".")
      for depth in parts.indices {
        let name = parts[...depth].joined(separator: ".")
        if !names.contains(name) { names.append(name) }
      }
    }
  }
}
