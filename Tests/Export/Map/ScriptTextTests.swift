import Foundation
import OrderedJSON
import Testing

@testable import Export

struct ScriptTextTests {
  private func json(_ text: String) -> String { String(decoding: ScriptText.json(Array(text.utf8)), as: UTF8.self) }
  private func library(_ text: String) -> String {
    String(decoding: ScriptText.library(Array(text.utf8)), as: UTF8.self)
  }

  @Test(
    "when JSON has the end of an element in a string, then the escaped text cannot end the element",
    arguments: ["</script>", "</SCRIPT >", "<!--<script>", "a<b", "<", "<<", "]]></style>"])
  func endOfElement(text: String) throws {
    let whole = JSON.object(["name": .string(text)]).text
    let escaped = json(whole)
    #expect(!escaped.contains("<"))
    let read = try JSONSerialization.jsonObject(with: Data(escaped.utf8)) as? [String: String]
    #expect(read == ["name": text], "the value is the same")
  }

  @Test(
    "when JSON has the line separators of old scripts, then they are escaped, and their neighbours in UTF-8 are not")
  func lineSeparators() throws {
    let escaped = json("[\"a\u{2028}b\u{2029}c\u{2027}d\u{202A}e\u{20AC}\"]")
    #expect(escaped == "[\"a\\u2028b\\u2029c\u{2027}d\u{202A}e\u{20AC}\"]")
    let read = try JSONSerialization.jsonObject(with: Data(escaped.utf8)) as? [String]
    #expect(read == ["a\u{2028}b\u{2029}c\u{2027}d\u{202A}e\u{20AC}"])
  }

  @Test(
    "when the text ends within a character, then every byte of it is kept",
    arguments: [[0xE2], [0xE2, 0x80], [0x61, 0xE2, 0x80]])
  func cutOff(bytes: [UInt8]) {
    #expect(ScriptText.json(bytes) == bytes)
  }

  @Test(
    "when there is nothing to escape, then the text is the same",
    arguments: ["", "{}", "{\"a\":[1,2.5,null],\"b\":\"\u{1F697} > &\"}"])
  func plain(text: String) {
    #expect(json(text) == text)
    #expect(library(text) == text)
  }

  @Test(
    "when a library has the end of an element, then a backslash breaks it",
    arguments: [
      ("a='</script>'", "a='<\\/script>'"), ("'</ScRiPt'", "'<\\/ScRiPt'"), ("'</style>'", "'<\\/style>'"),
      ("</s", "<\\/s"),
    ])
  func libraryEnds(text: String, escaped: String) {
    #expect(library(text) == escaped)
  }

  @Test(
    "when a library has other ends and divisions, then they are unchanged",
    arguments: ["</b>", "a</ 2", "1</2/.test(a)", "/s", "</"])
  func libraryOthers(text: String) {
    #expect(library(text) == text)
  }
}
