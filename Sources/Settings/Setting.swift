/// One key of the configuration, declared once: its name, type, default, range and effect for the documentation, how
/// its text is read, and when a running service applies a change. The table of docs/configuration.md is generated
/// from ``all``.
struct Setting {
  /// Its full name, with dots between groups.
  let key: String
  /// For the documentation, such as `duration` or `path or null`.
  let type: String
  /// The accepted values; empty when the type describes them.
  let range: String
  /// The effect in a sentence or two of Markdown.
  let effect: String
  let reload: Reload
  /// The default, as YAML.
  let defaultText: String
  /// Completes "expected ..." in a mistake.
  let expects: String
  /// Whether its value in a file is a list; as text it is that list on one line.
  var takesList = false
  /// Why a rejected text is wrong, where that says more than the expectation.
  var explanation: (String) -> String? = { text in
    text == "~" ? "~ is YAML's word for \"not set\", which this key cannot be" : nil
  }
  /// Sets the value from its text; `nil` (`null` in the file) is accepted by optional keys only.
  /// - Returns: Whether the text is a value of this setting.
  let apply: (inout ProbeConfiguration, String?) -> Bool
  /// Sets the value to that of another configuration.
  let copy: (ProbeConfiguration, inout ProbeConfiguration) -> Void

  /// When a running service applies a change of the key.
  enum Reload: String, Hashable, Sendable {
    case atOnce = "at once"
    case nextDrive = "with the next drive"
    case restart = "after a restart of the service"
  }

  var variable: String {
    Self.variablePrefix + key.uppercased().map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
  }

  /// Begins the name of every environment variable that is a setting.
  static let variablePrefix = "COVERAGE_PROBE_"
}
