import Foundation
import Testing

@testable import Settings

/// docs/configuration.md contains the table of all settings. `WRITE_DOCS=1 swift test --filter SettingTableTests` writes it.
struct SettingTableTests {
  private static let begin =
    "<!-- settings: from Sources/Settings, by WRITE_DOCS=1 swift test --filter SettingTableTests -->\n"
  private static let end = "\n<!-- end of settings -->"

  private static let page = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../docs/configuration.md").standardizedFileURL

  @Test("when a setting is declared, then the table of docs/configuration.md has it as declared")
  func documented() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let begin = try #require(text.range(of: Self.begin))
    let end = try #require(text.range(of: Self.end))
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil {
      let written = text.replacingCharacters(in: begin.upperBound..<end.lowerBound, with: SettingTable.markdown)
      try written.write(to: Self.page, atomically: true, encoding: .utf8)
    } else {
      #expect(
        text[begin.upperBound..<end.lowerBound] == SettingTable.markdown,
        "write it again: WRITE_DOCS=1 swift test --filter SettingTableTests")
    }
  }

  @Test("when the documentation has a default, then the key accepts it", arguments: keys)
  func defaults(key: String) throws {
    let setting = try #require(Setting.all.first { $0.key == key })
    let text = setting.defaultText == "null" ? nil : setting.defaultText
    var configuration = ProbeConfiguration()
    #expect(setting.apply(&configuration, text))
    #expect(!setting.effect.isEmpty)
    #expect(!setting.effect.contains("|") && !setting.effect.contains("\n"), "a row of the table is one line")
  }

  @Test("when keys are declared, then no two share a name or a variable")
  func names() {
    #expect(Set(Setting.all.map(\.key)).count == Setting.all.count)
    #expect(Set(Setting.all.map(\.variable)).count == Setting.all.count)
  }

  private static var keys: [String] { Setting.all.map(\.key) }
}

/// The reference of all settings as a Markdown table.
private enum SettingTable {
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
