import Foundation
import TestSupport
import Testing

@testable import Positioning

/// gpsd's lines as JSON: valid JSON is read as Foundation reads it, and odd JSON loses only the odd value
/// (docs/protocol.md, 4.5).
struct JSONObjectTests {
  private func object(_ text: String) -> JSONObject? { JSONObject(ArraySlice(Array(text.utf8))) }

  @Test(
    "when a line is not one object from its first brace to its last, then it is rejected",
    arguments: [
      "", " ", "{", "}", "[]", "1", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1"#, #"{"a":1,"#, #"{"a" 1}"#, #"{a:1}"#,
      #"{"a":1}x"#,
      #"{"a":1}{"#, #"{"a":"x}"#, #"{"a":[1}"#, #"{"a":1 2}"#, #"{,}"#, #"{"a\"#, #"{"a":"\"#, #"{1:2}"#,
    ])
  func noObjects(text: String) {
    #expect(object(text) == nil)
  }

  @Test(
    "when an object has odd blanks or a comma before its end, then its members are read",
    arguments: [#"{"a":7}"#, #"{"a":7,}"#, " \t{ \"a\"\t:  7 , }\t ", #"{"b":[{"x":1,},],"a":7}"#, #"{"a":1,"a":7}"#])
  func odd(text: String) {
    #expect(object(text)?.integer("a") == 7)
  }

  @Test("when an object has no members, then every member is absent")
  func empty() throws {
    let empty = try #require(object("{}"))
    #expect(empty.number("a") == nil && empty.integer("a") == nil && empty.bool("a") == nil)
    #expect(empty.string("a") == nil && empty.objects("a").isEmpty)
  }

  @Test(
    "when a number is written as in JSON, then it is read; an integer has no fraction",
    arguments: [
      ("0", 0, 0), ("-0", 0, 0), ("12", 12, 12), ("-12.5", -12.5, nil), ("1e3", 1000, 1000), ("1E+2", 100, 100),
      ("25e-1", 2.5, nil),
      ("5e-324", .leastNonzeroMagnitude, nil), ("9007199254740993", 9_007_199_254_740_992, 9_007_199_254_740_992),
      ("1e18", 1e18, 1_000_000_000_000_000_000),
      ("1e19", 1e19, nil), ("1.7976931348623157e308", .greatestFiniteMagnitude, nil),
    ] as [(String, Double, Int?)])
  func numbers(text: String, number: Double, integer: Int?) throws {
    let read = try #require(object("{\"a\":\(text)}"))
    #expect(read.number("a") == number)
    #expect(read.integer("a") == integer)
  }

  @Test(
    "when a value has another type than the requested one, then it is absent, and the other members are read",
    arguments: [
      "\"1\"", "[1]", "{\"b\":1}", "true", "false", "null", "nan", "-inf", "1e309", "0x10", "1_0", "1..2", "e", "+",
      "-",
    ])
  func otherTypes(text: String) throws {
    let read = try #require(object("{\"a\":\(text),\"z\":5}"))
    #expect(read.number("a") == nil && read.integer("a") == nil)
    #expect(read.bool("a") == (text == "true" ? true : text == "false" ? false : nil))
    #expect(read.string("a") == (text == "\"1\"" ? "1" : nil))
    #expect(read.objects("a").isEmpty)
    #expect(read.integer("z") == 5)
  }

  @Test(
    "when a text has escapes, then they are decoded: an unknown one to its letter, a broken one to U+FFFD",
    arguments: [
      (#"a\"b\\c\/d"#, "a\"b\\c/d"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"), (#"\u00e4\u20AC"#, "ä€"),
      (#"\ud83d\ude00"#, "😀"),
      (#"\x\'"#, "x'"), (#"\u12"#, "\u{FFFD}12"), (#"\u+123"#, "\u{FFFD}+123"), (#"\uzzzz"#, "\u{FFFD}zzzz"),
      (#"\ud83d"#, "\u{FFFD}"),
      (#"\ude00x"#, "\u{FFFD}x"),
      ("ä€😀", "ä€😀"), (#"\\u0041"#, "\\u0041"), ("", ""), ("{[,:]}", "{[,:]}"),
    ])
  func escapes(text: String, expected: String) {
    #expect(object("{\"a\":\"\(text)\",\"z\":1}")?.string("a") == expected)
    #expect(object("{\"\(text)\":7}")?.integer(expected) == 7, "keys have escapes, too")
  }

  @Test("when bytes are not UTF-8, then the text has the replacement character, and the line is read")
  func notUTF8() {
    let line = Array(#"{"a":"x"#.utf8) + [0xFF, 0xC3] + Array(#"y","b":2}"#.utf8)
    let read = JSONObject(ArraySlice(line))
    #expect(read?.string("a") == "x\u{FFFD}\u{FFFD}y")
    #expect(read?.integer("b") == 2)
  }

  @Test("when a list has objects and other values, then its own objects are read in order")
  func lists() throws {
    let read = try #require(object(#"{"a":[{"n":1},7,[{"n":9}],"{",{"n":2,"b":[{"m":3}]},null,{"n":4,}]}"#))
    #expect(read.objects("a").map { $0.integer("n") } == [1, 2, 4])
    #expect(read.objects("a")[1].objects("b").map { $0.integer("m") } == [3])
    #expect(object(#"{"a":[]}"#)?.objects("a").isEmpty == true)
    #expect(object(#"{"a":{"n":1}}"#)?.objects("a").isEmpty == true, "an object is no list")
  }

  @Test("when a line is a slice of a longer buffer, then only its own bytes are read")
  func slices() {
    let buffer = Array(#"{"a":1}{"a":2}{"a":3}"#.utf8)
    #expect([0, 7, 14].map { JSONObject(buffer[$0..<$0 + 7])?.integer("a") } == [1, 2, 3])
    #expect(JSONObject(buffer[0..<8]) == nil && JSONObject(buffer[1..<7]) == nil)
  }

  @Test("when Foundation encodes an object, then each member is read back unchanged")
  func asFoundation() throws {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    let letters: [Character] = [
      "a", "\"", "\\", "/", "\n", "\t", "{", "}", "[", "]", ",", ":", " ", "ä", "€", "😀", "\u{1}", "\u{7F}",
    ]
    func text() -> String {
      String((0..<Int.random(in: 0..<12, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
    }
    for _ in 0..<300 {
      let words = Dictionary((0..<4).map { _ in (text(), text()) }) { $1 }
      let bytes = try JSONEncoder().encode(words)
      let read = try #require(JSONObject(ArraySlice([UInt8](bytes))))
      for (key, word) in words { #expect(read.string(key) == word) }
      let number = Double(bitPattern: .random(in: 0...UInt64.max, using: &random))
      guard number.isFinite else { continue }
      let numbers = try JSONEncoder().encode(["n": number])
      #expect(JSONObject(ArraySlice([UInt8](numbers)))?.number("n") == number)
    }
  }
}
