import Foundation
import Networking
import Pinging

/// The reference of all settings as a Markdown table: docs/configuration.md contains it.
enum SettingTable {
  /// One row for each setting, in the order of ``Setting/all``.
  static var markdown: String {
    let header = [
      "| key | type | default | range | effect | a running service applies it |", "|---|---|---|---|---|---|",
    ]
    return (header + Setting.all.map(row)).joined(separator: "\n")
  }

  private static func row(_ setting: Setting) -> String {
    // The heading of the column names the service.
    let when = setting.reload.rawValue.replacing(" of the service", with: "")
    let cells = [
      "`\(setting.key)`", setting.type, "`\(setting.defaultText)`", setting.range, setting.effect, when,
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }
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
