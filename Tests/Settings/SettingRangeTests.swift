import Coverage
import Foundation
import Testing

@testable import Settings

/// Every setting at the ends of its range, and with invalid texts.
struct SettingRangeTests {
  private func setting(_ key: String) throws -> Setting { try #require(Setting.all.first { $0.key == key }) }

  private func accepts(_ setting: Setting, _ text: String?) -> Bool {
    var configuration = ProbeConfiguration()
    return setting.apply(&configuration, text)
  }

  @Test(
    "when a duration is at an end of its range, then it is accepted; a millisecond beyond is refused",
    arguments: Keys.durations)
  func durationEnds(key: String) throws {
    let setting = try setting(key)
    let ends = try #require(Keys.ends(setting), "the documentation names the range")
    let limits = try ends.map { try #require(DurationText.duration($0)) }
    #expect(limits[0] < limits[1])
    for end in ends { #expect(accepts(setting, end), "\(end)") }
    let (below, above) = (limits[0] - .milliseconds(1), limits[1] + .milliseconds(1))
    #expect(below < .zero || !accepts(setting, "\(below / .milliseconds(1))ms".replacing(".0", with: "")))
    #expect(!accepts(setting, "\(Int(above / .milliseconds(1)))ms"))
  }

  @Test(
    "when a number is at an end of its range, then it is accepted; the next number is refused", arguments: Keys.numbers)
  func numberEnds(key: String) throws {
    // More digits than 64 bits have.
    #expect(!accepts(try setting(key), "99999999999999999999999"))
    let setting = try setting(key)
    let ends = try #require(Keys.ends(setting)).map { try #require(Int($0)) }
    #expect(ends[0] < ends[1])
    #expect(accepts(setting, "\(ends[0])") && accepts(setting, "\(ends[1])"))
    #expect(!accepts(setting, "\(ends[0] - 1)") && !accepts(setting, "\(ends[1] + 1)"))
  }

  @Test(
    "when a quantity must be above zero, then zero and any text that is no number are refused",
    arguments: Keys.quantities
  )
  func quantities(key: String) throws {
    let setting = try setting(key)
    for text in ["0", "-1", "nan", "inf", "1e400", "-0.0"] { #expect(!accepts(setting, text), "\(text)") }
    #expect(accepts(setting, "1") && accepts(setting, "0.5"))
  }

  @Test(
    "when a text is invalid, then it is refused, changes nothing, and the mistake has an expectation",
    arguments: Keys.durations + Keys.numbers + Keys.quantities)
  func nonsense(key: String) throws {
    let setting = try setting(key)
    #expect(!setting.expects.isEmpty)
    for text in [
      "", " ", "~", "ten", "1 0", "٣", "-9223372036854775809", "1_000", "\0",
    ] {
      var configuration = ProbeConfiguration()
      #expect(!setting.apply(&configuration, text), "\(text)")
      #expect("\(configuration)" == "\(ProbeConfiguration())")
    }
  }

  @Test(
    "when a key may be null, then null is accepted; otherwise it is refused and changes nothing",
    arguments: Keys.all { _ in true })
  func null(key: String) throws {
    let setting = try setting(key)
    var configuration = ProbeConfiguration()
    let isAccepted = setting.apply(&configuration, nil)
    #expect(isAccepted == (setting.type.hasSuffix("or null") || setting.takesList))
    #expect(isAccepted || "\(configuration)" == "\(ProbeConfiguration())")
  }

  @Test(
    "when a key is a boolean, then YAML's other words for it are explained",
    arguments: Keys.all { $0.type == "true or false" })
  func booleans(key: String) throws {
    let setting = try setting(key)
    #expect(accepts(setting, "true") && accepts(setting, "false"))
    for text in ["yes", "no", "On", "OFF", "y"] {
      #expect(!accepts(setting, text))
      #expect(setting.explanation(text) == "yes, no, on and off are no booleans")
    }
    #expect(setting.explanation("perhaps") == nil)
  }

  @Test(
    "when a path begins with a tilde, then the explanation demands the whole path",
    arguments: ["state-directory", "control-server.ca-file"])
  func tilde(key: String) throws {
    let setting = try setting(key)
    #expect(setting.explanation("~/state")?.hasSuffix("write the whole path") == true)
    #expect(setting.explanation("/state") == nil)
  }

  @Test(
    "when a change needs no restart, then a reload applies it, and only once",
    arguments: Keys.all { $0.reload != .restart })
  func reload(key: String) throws {
    let setting = try setting(key)
    guard let ends = Keys.ends(setting) else { return }
    let old = ProbeConfiguration()
    var new = old
    let text = ends[0] == setting.defaultText ? ends[1] : ends[0]
    #expect(setting.apply(&new, text))
    new.texts[key] = text
    let first = ConfigurationReload(from: old, to: new)
    #expect("\(first.configuration)" == "\(new)")
    let again = ConfigurationReload(from: first.configuration, to: new)
    #expect(again.lines == ["the configuration is read again; nothing has changed in it"])
  }
}

/// The keys of settings by kind.
private enum Keys {
  static func all(where isWanted: (Setting) -> Bool) -> [String] {
    Setting.all.filter(isWanted).map(\.key)
  }

  static func ends(_ setting: Setting) -> [String]? {
    let ends = setting.range.components(separatedBy: " to ")
    return ends.count == 2 && ends.allSatisfy { $0.first?.isNumber == true && !$0.contains(" ") } ? ends : nil
  }

  static let durations = all { $0.type == "duration" }
  static let numbers = all { ends($0)?.allSatisfy { Int($0) != nil } == true }
  static let quantities = all { $0.range.hasPrefix("above 0") }
}
