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
