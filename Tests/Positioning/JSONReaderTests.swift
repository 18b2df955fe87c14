import Testing

@testable import Positioning

/// The values of a line from left to right, without parsing their contents.
struct JSONReaderTests {
  private func values(_ text: String) -> [String] {
    var reader = JSONReader(ArraySlice(Array(text.utf8)))
    var values: [String] = []
    while let value = reader.skipValue() {
      values.append(String(decoding: value, as: UTF8.self))
      _ = reader.skip(",")
    }
    return values
  }

  @Test("when values follow each other, then each is delimited as a whole, without its blanks")
  func delimited() {
    #expect(
      values(#"1, "a,]" ,[1,[2,"]"]],{"b":"}\""} , nan"#) == ["1", #""a,]""#, #"[1,[2,"]"]]"#, #"{"b":"}\""}"#, "nan"])
  }

  @Test(
    "when a value has no end, then no value is read",
    arguments: ["", " \t", "\"a", "\"a\\", "[1", "{\"a\":[1}", ",", "]", "}"])
  func endless(text: String) {
    #expect(values(text).isEmpty)
  }

  @Test("when brackets nest a million deep, then they are one value, and the stack does not overflow")
  func deep() {
    let deep = String(repeating: "[", count: 1_000_000) + String(repeating: "]", count: 1_000_000)
    #expect(values(deep + ",7").map(\.utf8.count) == [2_000_000, 1])
  }
}
