import Coverage
import Networking
import SystemServices
import Testing
import Yams

@testable import Settings

/// Lists of links and of exclusion zones, entry by entry.
struct ListTests {
  /// The reason why a text is no list of this kind; `nil` if it is valid.
  private func mistake<Entry>(_ text: String, _ parse: (Node) throws -> [Entry]) throws -> String? {
    let node = try #require(try Yams.compose(yaml: text))
    do {
      _ = try parse(node)
      return nil
    } catch let mistake as ListMistake {
      return mistake.reason
    }
  }

  private func links(_ text: String) throws -> [LinkSettings] {
    try LinkList.parse(try #require(try Yams.compose(yaml: text)))
  }

  private func zones(_ text: String) throws -> [ExclusionZone] {
    try ExclusionZoneList.parse(try #require(try Yams.compose(yaml: text)))
  }

  private static let longest = String(repeating: "a", count: 32)
  private static let longestWide = String(repeating: "車", count: 32)

  @Test(
    "when a link's name is 1 to 32 letters and digits of any script, hyphens and underscores, then it is accepted as it is written",
    arguments: [
      "A", "a-Z_09", longest, "-", "007", "Тест", "車1", "Wien-Süd", "e\u{301}", "\u{E9}", "٣", "हिन्दी", longestWide,
    ])
  func names(name: String) throws {
    let read = try links("[{ name: \"\(name)\", interface: lo }]").map(\.name)
    #expect(read.compactMap { $0.map { Array($0.utf8) } } == [Array(name.utf8)], "nothing is normalised")
  }

  @Test("when two names look the same but for their normalisation, then they are one name, which is there twice")
  func sameName() throws {
    let text = "[{ name: \"e\u{301}\", interface: lo }, { name: \"\u{E9}\", interface: eth0 }]"
    #expect(try mistake(text, LinkList.parse) == "entry 2 has the name or the interface of entry 1")
  }

  @Test(
    "when a link's name cannot be part of a file name, then the mistake has the expectation",
    arguments: [
      "", longest + "a", longestWide + "車", "a b", "a/b", "..", "a.b", "a\\\\b", "\u{301}A", "a\u{200B}b", "a\u{202E}b",
      "a\\tb",
      "a\\0b", "a\u{2028}b", "\u{1F697}", "²",
    ])
  func badNames(name: String) throws {
    let reason = try mistake("[{ name: \"\(name)\", interface: lo }]", LinkList.parse)
    // Not `hasPrefix`: a combining mark is one character with the quote before it.
    #expect(reason?.utf8.starts(with: "entry 1: name is \"".utf8) == true, "\(reason ?? "")")
    #expect(reason?.hasSuffix("\": expected 1 to 32 letters and digits of any script, - and _") == true)
  }

  @Test("when a link has every key, or only the required keys, then missing keys have their defaults")
  func link() throws {
    let whole = "[{ name: A, interface: wwan0, radio: \"command:/bin/radio\", network: \"file:/run/path\" }]"
    #expect(
      try links(whole) == [
        LinkSettings(name: "A", interface: "wwan0", network: .file("/run/path"), radio: .command("/bin/radio"))
      ])
    let least = try links("[{ interface: wwan0, name: A }]")
    #expect(least == [LinkSettings(name: "A", interface: "wwan0", network: .auto, radio: .none)])
    #expect(try links("[]").isEmpty)
  }

  @Test(
    "when a list of links is wrong, then the mistake names the entry, the key, its value and the expectation",
    arguments: [
      ("{ name: A, interface: lo }", ""), ("A", ""),
      ("[A]", "entry 1: expected a group of keys: name, interface, radio, network"),
      ("[{}]", "entry 1: name is missing: expected 1 to 32 letters and digits of any script, - and _"),
      ("[{ interface: lo }]", "entry 1: name is missing: expected 1 to 32 letters and digits of any script, - and _"),
      ("[{ name: [A], interface: lo }]", "entry 1: name is \"a list or a group\": expected 1 to 32 letters"),
      (
        "[{ name: A, interface: {} }]", "entry 1: interface is \"a list or a group\": expected the name of an interface"
      ),
      ("[{ name: A, interface: lo, Radio: none }]", "entry 1: unknown key Radio (did you mean radio?)"),
      ("[{ name: A, interface: lo, [x]: none }]", "entry 1: unknown key ? (did you mean"),
      ("[{ name: A, interface: lo, network: wifi }]", "entry 1: network is \"wifi\": expected auto, fixed-cellular"),
      ("[{ name: A, interface: lo, radio: \"\" }]", "entry 1: radio is \"\": expected none, auto, modem-manager"),
      (
        "[{ name: A, interface: a }, { name: B, interface: b }, { name: A, interface: c }]",
        "entry 3 has the name or the interface of entry 1"
      ),
      (
        "[{ name: A, interface: a }, { name: B, interface: b }, { name: C, interface: b }]",
        "entry 3 has the name or the interface of entry 2"
      ),
    ])
  func linkMistakes(text: String, expected: String) throws {
    let reason = try #require(try mistake(text, LinkList.parse))
    #expect(expected.isEmpty ? reason.isEmpty : reason.hasPrefix(expected), "\(reason)")
  }

  @Test("when links differ in their names and interfaces only by case, then they are two links")
  func cases() throws {
    #expect(try links("[{ name: a, interface: b }, { name: A, interface: B }]").count == 2)
  }

  @Test(
    "when a zone is at an end of a range, then it is accepted",
    arguments: [
      ("{ latitude: 90, longitude: 180, radius: 100000 }", 90.0, 180.0, 100_000.0),
      ("{ latitude: -90, longitude: -180, radius: 0.001 }", -90, -180, 0.001),
      ("{ radius: 1e3, longitude: 1.5e1, latitude: -0.0 }", 0, 15, 1000),
    ])
  func zoneEnds(text: String, latitude: Double, longitude: Double, radius: Double) throws {
    let zone = try #require(try zones("[\(text)]").first)
    #expect((zone.centre.latitude, zone.centre.longitude, zone.radius) == (latitude, longitude, radius))
  }

  @Test(
    "when a zone is out of range, then the mistake has the key and the range, but never the value",
    arguments: [
      ("latitude: 90.0001, longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("latitude: -91, longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("latitude: 7.25, longitude: 180.0001, radius: 7.25", "longitude: expected degrees, -180 to 180"),
      ("latitude: 7.25, longitude: -181, radius: 7.25", "longitude: expected degrees, -180 to 180"),
      ("latitude: 7.25, longitude: 7.25, radius: 0", "radius: expected metres, above 0, at most 100000"),
      ("latitude: 7.25, longitude: 7.25, radius: -1", "radius: expected metres, above 0, at most 100000"),
      ("latitude: 7.25, longitude: 7.25, radius: 100000.1", "radius: expected metres, above 0, at most 100000"),
      ("latitude: nan, longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("latitude: 7.25, longitude: inf, radius: 7.25", "longitude: expected degrees, -180 to 180"),
      ("latitude: 7.25, longitude: 7.25, radius: nan", "radius: expected metres, above 0, at most 100000"),
      ("latitude: 7.25 N, longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("latitude: \"7,25\", longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("latitude: { 7.25: 1 }, longitude: 7.25, radius: 7.25", "latitude: expected degrees, -90 to 90"),
      ("longitude: 7.25, radius: 7.25", "latitude is missing: expected degrees, -90 to 90"),
      ("latitude: 7.25, radius: 7.25", "longitude is missing: expected degrees, -180 to 180"),
      ("7.25: 7.25, longitude: 7.25, radius: 7.25", "unknown key (did you mean"),
    ])
  func zoneMistakes(keys: String, expected: String) throws {
    let good = "{ latitude: 1, longitude: 1, radius: 1 }"
    let reason = try #require(try mistake("[\(good), { \(keys) }]", ExclusionZoneList.parse))
    #expect(reason.hasPrefix("entry 2: \(expected)"), "\(reason)")
    #expect(!reason.contains("7.25") && !reason.contains("7,25"))
  }
}
