import OrderedJSON
import Yams

/// The values in effect and where each is from, for `config print`. It hides the password in the control server's URL and private
/// places.
public struct ConfigurationListing {
  private let reading: ConfigurationReading

  public init(_ reading: ConfigurationReading) { self.reading = reading }

  /// A configuration file with all settings; a comment behind each names its origin. A list that is hidden is a comment as a
  /// whole.
  public var yaml: String {
    var lines: [String] = []
    // The groups whose keys the lines so far have opened, from the outermost one.
    var open: [Substring] = []
    for setting in Setting.all {
      let path = setting.key.split(separator: ".")
      let groups = path.dropLast()
      let common = zip(open, groups).prefix { $0 == $1 }.count
      for depth in common..<groups.count { lines.append(Self.indented(groups[depth] + ":", depth)) }
      open = Array(groups)
      let (value, origin) = (value(of: setting), origin(of: setting))
      let line = "\(value.isHidden ? "# " : "")\(path[groups.count]): \(value.text)"
      lines.append(Self.indented(line + "  # \(origin)", groups.count))
    }
    return lines.joined(separator: "\n")
  }

  /// One object a setting: `key`, `value` and `default` as YAML has them, `origin` (`default`, `file`, `environment`), `file` (the path,
  /// if the origin is a file), `variable`.
  public var json: String {
    let settings = Setting.all.map { setting in
      let (origin, file): (String, String?) =
        switch reading.origin(of: setting.key) {
        case .standard: ("default", nil)
        case .file(let file): ("file", file)
        case .environment: ("environment", nil)
        }
      return JSON.object([
        "key": .string(setting.key), "value": .string(value(of: setting).text),
        "default": .string(setting.defaultText), "origin": .string(origin), "file": file.map(JSON.string),
        "variable": .string(setting.variable),
      ])
    }
    return JSON.array(settings).text
  }

  private static func indented(_ line: some StringProtocol, _ depth: Int) -> String {
    String(repeating: "  ", count: depth) + line
  }

  /// The comment behind a value: `default`, the path of the file, or the name of the variable.
  private func origin(of setting: Setting) -> String {
    switch reading.origin(of: setting.key) {
    case .standard: "default"
    case .file(let file): file
    case .environment(let variable): variable
    }
  }

  /// The value as YAML. A private list is hidden: its text has the number of entries only.
  private func value(of setting: Setting) -> (text: String, isHidden: Bool) {
    guard let text = reading.configuration.texts[setting.key] else { return (setting.defaultText, false) }
    if ConfigurationReading.isNothing(text) { return (setting.takesList ? "[]" : "null", false) }
    guard setting.takesList else { return (Self.scalar(ConfigurationReading.shown(text, of: setting)), false) }
    guard let node = try? Yams.compose(yaml: text), let entries = node.sequence, !entries.isEmpty
    else { return ("[]", false) }
    if setting.key.hasPrefix(ConfigurationReading.privateGroup + ".") {
      return ("\(entries.count) \(entries.count == 1 ? "entry" : "entries"), hidden", true)
    }
    return (Self.list(entries), false)
  }

  /// The list as YAML on one line, as a variable of the environment can hold it.
  private static func list(_ entries: Node.Sequence) -> String {
    let texts = entries.map { entry in
      let members = entry.mapping?.map { "\(scalar($0.key.string ?? "")): \(scalar($0.value.string ?? ""))" }
      return members.map { "{ \($0.joined(separator: ", ")) }" } ?? scalar(entry.string ?? "")
    }
    return "[" + texts.joined(separator: ", ") + "]"
  }

  /// The text as a YAML scalar that reads back as the same text.
  private static func scalar(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: /[A-Za-z0-9_\/][A-Za-z0-9_.\/@:+-]*/) != nil && !text.hasSuffix(":")
    // A string of JSON is one of YAML.
    return isPlain ? text : JSON.string(text).text
  }
}
