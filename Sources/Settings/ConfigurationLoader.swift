import Foundation
import Pinging
import Yams

extension ProbeConfiguration {
  /// Reads the settings: environment over file over defaults.
  /// - Parameters:
  ///   - file: A YAML file; `nil` for none.
  ///   - defaults: The values of settings that neither sets.
  /// - Throws: ``ConfigurationError``
  public static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    defaults: ProbeConfiguration = ProbeConfiguration()
  ) throws(ConfigurationError) -> ProbeConfiguration {
    let settings = Setting.all
    let variables = environment.filter { $0.key.hasPrefix(Setting.variablePrefix) }
    try checkNames(of: variables, settings)
    let texts = if let file { try values(of: file, settings) } else { [String: String]() }
    var configuration = defaults
    for setting in settings {
      let variable = variables[setting.variable]
      guard let text = variable ?? texts[setting.key] else { continue }
      guard setting.apply(&configuration, isNothing(text) ? nil : text) else {
        throw mistake(
          text, of: setting, named: variable == nil ? setting.key : setting.variable,
          in: variable == nil ? "configuration \(file ?? "")" : "environment")
      }
      configuration.texts[setting.key] = text
    }
    try configuration.checkWaits()
    try configuration.checkFamily()
    configuration.file = file
    return configuration
  }

  /// The control server makes ping tokens for the address that a request comes from.
  private func checkFamily() throws(ConfigurationError) {
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

  /// A wait that doubles up to a last one must not begin above it.
  private func checkWaits() throws(ConfigurationError) {
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

  private static func checkNames(of variables: [String: String], _ settings: [Setting]) throws(ConfigurationError) {
    let known = settings.map(\.variable)
    for name in variables.keys.sorted() where !known.contains(name) {
      throw ConfigurationError.unknownKey(
        name, place: "environment", nearest: ConfigurationName.nearest(to: name, among: known))
    }
  }

  /// - Returns: The text of each key that the file sets. A file of comments alone is valid.
  private static func values(of file: String, _ settings: [Setting]) throws(ConfigurationError) -> [String: String] {
    guard let root = try ConfigurationText.root(of: file), !isNothing(root) else { return [:] }
    guard let mapping = root.mapping else {
      throw ConfigurationError.malformed(file: file, reason: "expected keys and values at the top")
    }
    var values: [String: String] = [:]
    try read(mapping, below: "", file: file, settings, into: &values)
    return values
  }

  /// No message repeats what stands below this key.
  private static let privateGroup = "privacy"

  private static func read(
    _ mapping: Node.Mapping, below parent: String, file: String, _ settings: [Setting],
    into values: inout [String: String]
  ) throws(ConfigurationError) {
    for (name, value) in mapping {
      let key = parent + (name.string ?? "?")
      if let setting = settings.first(where: { $0.key == key }) {
        values[key] = try text(of: value, setting, file: file)
      } else if settings.contains(where: { $0.key.hasPrefix(key + ".") }) {
        guard !isNothing(value) else { continue }
        guard let group = value.mapping else {
          throw ConfigurationError.badValue(
            key: key, value: key == privateGroup ? "(hidden)" : value.string ?? "a list",
            place: "configuration \(file)",
            expected: "a group of keys below it")
        }
        try read(group, below: key + ".", file: file, settings, into: &values)
      } else {
        // A key that is out of place in the private group can be a coordinate.
        throw ConfigurationError.unknownKey(
          parent == privateGroup + "." ? parent + "(hidden)" : key, place: "configuration \(file)",
          nearest: ConfigurationName.nearest(to: key, among: names(settings)))
      }
    }
  }

  private static func text(of value: Node, _ setting: Setting, file: String) throws(ConfigurationError) -> String {
    if let scalar = value.scalar { return scalar.string }
    if setting.takesList, value.sequence != nil, let text = try? Yams.serialize(node: value) { return text }
    throw ConfigurationError.badValue(
      key: setting.key, value: "a list or a group", place: "configuration \(file)", expected: setting.expects)
  }

  /// The text as a message may repeat it: without user information of a URL, which can be a password.
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
