import Foundation
import Networking
import Pinging

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

/// Values of single settings, from their text; `nil` for a text that is none.
extension Setting {
  /// A path as it is. One that begins with `~` is refused: a shell replaces the tilde, this program does not.
  static func path(_ text: String) -> String? { text.isEmpty || text.hasPrefix("~") ? nil : text }

  /// A text without white space.
  static func word(_ text: String) -> String? {
    text.isEmpty || text.contains(where: \.isWhitespace) ? nil : text
  }

  /// A base URL with `https` or `http` in lower case and a host, without query and fragment. Slashes at its end are removed.
  static func url(_ text: String) -> String? {
    let prefix = ["https://", "http://"].first { text.hasPrefix($0) }
    guard let prefix, text.count > prefix.count, word(text) != nil, !text.contains(where: { $0 == "?" || $0 == "#" }),
      let parts = URLComponents(string: text), parts.host?.isEmpty == false,
      parts.port.map((1...65_535).contains) ?? true
    else { return nil }
    return String(text.reversed().drop { $0 == "/" }.reversed())
  }

  /// `IPV4:PORT` or `[IPV6]:PORT`, without a zone: a name or an interface can mean another host tomorrow.
  static func numericPlace(_ text: String) -> HostPort? {
    HostPort(text).flatMap { $0.host.contains("%") || PingAddress(numeric: $0.host, port: $0.port) == nil ? nil : $0 }
  }

  /// A size in bytes, 16 MiB to 1 TiB.
  static func size(_ text: String) -> Int64? {
    SizeText.bytes(text).flatMap { (16 << 20...1 << 40).contains($0) ? Int64($0) : nil }
  }
}
