import Testing

@testable import Coverage

@Suite struct ForeignTextTests {
  @Test(
    "when a text has terminal control characters, then spaces replace them",
    arguments: [
      ("plain: ünï 東", "plain: ünï 東"), ("a\nb\r\u{1B}[31mc\u{7}", "a b  [31mc "), ("a\u{9B}2Jb", "a 2Jb"),
      ("a\u{202E}b\u{2028}c\u{200B}d", "a b c d"), ("\u{0}", " "),
    ])
  func clean(_ text: String, expected: String) { #expect(ForeignText.clean(text) == expected) }

  @Test func `when a text is long, then it is cut`() {
    #expect(ForeignText.clean(String(repeating: "x", count: 200)).count == 200)
    #expect(ForeignText.clean(String(repeating: "x", count: 60_000)) == String(repeating: "x", count: 200) + "...")
    #expect(ForeignText.clean(String(repeating: "e\u{301}\u{302}", count: 60_000)).unicodeScalars.count == 203)
  }
}
