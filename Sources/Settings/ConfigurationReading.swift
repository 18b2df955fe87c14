import Coverage
import Foundation
import Pinging
import Yams

/// The settings as files and the environment have them, with every mistake in them. The environment wins over the files, a later file
/// over an earlier one, and the first one over the defaults.
public struct ConfigurationReading: Sendable {
  /// Where the value of a setting is from.
  public enum Origin: Hashable, Sendable {
    /// The default: neither a file nor the environment sets it.
    case standard
    /// The file with this path; the last one that sets it.
    case file(String)
    /// The variable with this name.
    case environment(variable: String)
  }

  /// All settings; one with a mistake has its default.
  public private(set) var configuration: ProbeConfiguration
  /// Names and values of the environment and the files, then settings that contradict each other. Empty: the configuration can be
  /// used.
  public private(set) var mistakes: [ConfigurationError] = []
  /// By key. A setting with its default, or with a mistake, is absent.
  private var origins: [String: Origin] = [:]
  /// In the order in which they were read.
  private var files: [String] = []

  /// Reads the settings.
  /// - Parameters:
  ///   - file: A YAML file; those of the folder `conf.d` beside it follow it (docs/configuration.md). `nil` for none.
  ///   - defaults: The values of settings that neither files nor the environment set.
  public init(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    defaults: ProbeConfiguration = ProbeConfiguration()
  ) {
    configuration = defaults
    configuration.file = file
    let settings = Setting.all
    let variables = environment.filter { $0.key.hasPrefix(Setting.variablePrefix) }
    checkNames(of: variables, settings)
    if let file {
      do throws(ConfigurationError) { files = try ConfigurationFiles.paths(file) } catch { mistakes.append(error) }
    }
    var texts: [String: (text: String, file: String)] = [:]
    for file in files {
      for (key, text) in values(of: file, settings) { texts[key] = (text, file) }
    }
    // A text is not parsed when a later file or the environment sets the same key.
    for setting in settings {
      if let text = variables[setting.variable] {
        set(setting, text, named: setting.variable, in: "environment", .environment(variable: setting.variable))
      } else if let (text, file) = texts[setting.key] {
        set(setting, text, named: setting.key, in: "configuration \(file)", .file(file))
      }
    }
    // A default in the place of a mistake would contradict values that are right.
    guard mistakes.isEmpty else { return }
    checkWaits()
    checkFamily()
    checkTarget()
    checkLoop()
  }

  /// Whether the file could not be read, so that all settings are unknown.
  public var isUnreadable: Bool { mistakes.contains { if case .unreadable = $0 { true } else { false } } }

  /// Where the value of the setting `key` is from.
  public func origin(of key: String) -> Origin { origins[key] ?? .standard }

  /// How many settings are from where, in one line.
  public var summary: String {
    let counts = files.map { file in (file, origins.values.count { $0 == .file(file) }) }
    let sources = files.isEmpty ? "no file" : counts.map { "\($1) from \($0)" }.joined(separator: ", ")
    let fromEnvironment = origins.count - counts.reduce(0) { $0 + $1.1 }
    return
      "no mistake in \(Setting.all.count) settings: \(sources), \(fromEnvironment) from the environment, the others are defaults"
  }

  /// Applies one text. A rejected text adds a mistake, and the setting has its default.
  /// - Parameter name: The key or the variable, as the operator wrote it.
  private mutating func set(_ setting: Setting, _ text: String, named name: String, in place: String, _ origin: Origin)
  {
    guard setting.apply(&configuration, Self.isNothing(text) ? nil : text) else {
      mistakes.append(Self.mistake(text, of: setting, named: name, in: place))
      return
    }
    configuration.texts[setting.key] = text
    origins[setting.key] = origin
  }

  /// Refuses a literal address in `control-server.url` of another IP version than `pings.ip-version`: the control server makes
  /// ping tokens for the address that a request comes from.
  private mutating func checkFamily() {
    guard let family = configuration.pings.family else { return }
    if let host = configuration.controlServer.hostOfOtherFamily(than: family) {
      mistakes.append(.otherFamily(family, host: host))
    }
  }

  /// Refuses parts of `pings.target` that do not go together.
  private mutating func checkTarget() {
    if let reason = configuration.pings.target.contradiction(family: configuration.pings.family) {
      mistakes.append(.conflict(reason))
    }
  }

  /// Refuses a loop that would wait for its second test for ever.
  private mutating func checkLoop() {
    guard configuration.loop.count > 1, configuration.loop.every == nil, configuration.loop.distance == nil else {
      return
    }
    mistakes.append(
      .conflict(
        "loop.every and loop.distance are null, so the second of loop.count tests never starts: set one of them"))
  }

  /// The error for a rejected text. That of a list repeats the text only as far as its entries permit.
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
  private mutating func checkWaits() {
    let (recovery, submission) = (configuration.recovery, configuration.submission)
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
      mistakes.append(
        .contradiction(
          key: ladder.key, value: DurationText.text(ladder.first.inSeconds),
          lastKey: ladder.lastKey, last: DurationText.text(ladder.last.inSeconds)))
    }
  }

  /// Finds variables that begin as a setting does and are none: a misspelt one would have no effect and no message.
  private mutating func checkNames(of variables: [String: String], _ settings: [Setting]) {
    let known = settings.map(\.variable)
    // A program for loop.hook has these two, and can call this program.
    let ofHook = ["COVERAGE_PROBE_NOTICE", "COVERAGE_PROBE_TEST"]
    for name in variables.keys.sorted() where !known.contains(name) && !ofHook.contains(name) {
      mistakes.append(
        .unknownKey(name, place: "environment", nearest: ConfigurationName.nearest(to: name, among: known)))
    }
  }

  /// - Returns: The text of each key that the file sets. A file of comments alone is valid.
  private mutating func values(of file: String, _ settings: [Setting]) -> [String: String] {
    var values: [String: String] = [:]
    do throws(ConfigurationError) {
      guard let root = try ConfigurationText.root(of: file), !Self.isNothing(root) else { return [:] }
      guard let mapping = root.mapping else {
        throw .malformed(file: file, reason: "expected keys and values at the top")
      }
      read(mapping, below: "", file: file, settings, into: &values)
    } catch {
      mistakes.append(error)
    }
    return values
  }

  /// No message repeats what stands below this key.
  static let privateGroup = "privacy"

  /// Reads the settings of a group and of the groups inside it. A mistake is added, and reading goes on behind it.
  /// - Parameters:
  ///   - parent: The group's name with a dot at its end; empty at the top of the file.
  ///   - values: Receives the text of each setting, by key.
  private mutating func read(
    _ mapping: Node.Mapping, below parent: String, file: String, _ settings: [Setting],
    into values: inout [String: String]
  ) {
    for (name, value) in mapping {
      let key = parent + (name.string ?? "?")
      if let setting = settings.first(where: { $0.key == key }) {
        do { values[key] = try Self.text(of: value, setting, file: file) } catch { mistakes.append(error) }
      } else if settings.contains(where: { $0.key.hasPrefix(key + ".") }) {
        guard !Self.isNothing(value) else { continue }
        guard let group = value.mapping else {
          mistakes.append(
            .badValue(
              key: key, value: key == Self.privateGroup ? "(hidden)" : value.string ?? "a list",
              place: "configuration \(file)", expected: "a group of keys below it"))
          continue
        }
        read(group, below: key + ".", file: file, settings, into: &values)
      } else {
        // A key that is out of place in the private group can be a coordinate.
        mistakes.append(
          .unknownKey(
            parent == Self.privateGroup + "." ? parent + "(hidden)" : key, place: "configuration \(file)",
            nearest: ConfigurationName.nearest(to: key, among: Self.names(settings))))
      }
    }
  }

  /// A scalar as it stands in the file, or a list as YAML text, which ``Setting/apply`` reads again.
  /// - Throws: ``ConfigurationError/badValue(key:value:place:expected:)`` for a group, and for a list as a single value.
  private static func text(of value: Node, _ setting: Setting, file: String) throws(ConfigurationError) -> String {
    if let scalar = value.scalar { return scalar.string }
    if setting.takesList, value.sequence != nil, let text = try? Yams.serialize(node: value) { return text }
    throw .badValue(
      key: setting.key, value: "a list or a group", place: "configuration \(file)", expected: setting.expects)
  }

  /// The text as a message may repeat it: without user information of a URL, which can be a password.
  static func shown(_ text: String, of setting: Setting) -> String {
    let line = oneLine(text)
    guard setting.key == "control-server.url", let at = line.lastIndex(of: "@") else { return line }
    let scheme = ["https://", "http://"].first { line.hasPrefix($0) } ?? ""
    return "\(scheme)(hidden)\(line[at...])"
  }

  /// Whether the text means "not set": empty, `~` or `null`. A quoted `"null"` of a file means the same.
  static func isNothing(_ text: String) -> Bool { ["", "~", "null"].contains(text.lowercased()) }

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

extension ProbeConfiguration {
  /// Reads the settings: environment over files over defaults.
  /// - Parameters:
  ///   - file: A YAML file; those of the folder `conf.d` beside it follow it. `nil` for none.
  ///   - defaults: The values of settings that neither files nor the environment set.
  /// - Throws: The first ``ConfigurationError`` of a ``ConfigurationReading``.
  public static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    defaults: ProbeConfiguration = ProbeConfiguration()
  ) throws(ConfigurationError) -> ProbeConfiguration {
    let reading = ConfigurationReading(file: file, environment: environment, defaults: defaults)
    if let mistake = reading.mistakes.first { throw mistake }
    return reading.configuration
  }
}

extension ProbeConfiguration.ControlServerSettings {
  /// The host of the URL if it is a numeric address of another IP version than `family`.
  func hostOfOtherFamily(than family: IPVersion?) -> String? {
    guard let family, let host = url.flatMap({ URL(string: $0)?.host() }) else { return nil }
    let numeric = host.trimmingCharacters(in: ["[", "]"])
    let address = PingAddress(numeric: numeric, port: 0)
    return address.map { $0.family == family } ?? true ? nil : numeric
  }
}
