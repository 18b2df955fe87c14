import Testing

@testable import Positioning

@Suite struct ForeignTextTests {
  @Test(
    "when a text has what moves a terminal, then spaces stand for it",
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

  @Test func `when gpsd's texts are hostile, then each status is one short line`() {
    let evil = String(repeating: "\n\u{1B}]0;x\u{7}", count: 1000)
    let statuses: [PositioningStatus] = [
      .complaint(evil), .connected(release: evil), .positioned(device: evil), .devices([evil, evil]),
    ]
    for status in statuses {
      #expect(!status.description.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
      #expect(status.description.count < 230)
    }
  }
}
