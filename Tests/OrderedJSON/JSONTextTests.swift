import Foundation
import Testing

@testable import OrderedJSON

@Suite struct JSONTextTests {
  private func parsed(_ json: JSON) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(json.text.utf8), options: .fragmentsAllowed)
  }

  @Test func `when an object is written, then its members keep their order`() {
    let json: JSON = .object(["zebra": 1, "apple": 2, "mango": 3])
    #expect(json.text == #"{"zebra":1,"apple":2,"mango":3}"#)
  }

  @Test func `when a member has no value, then it is left out, but null stays`() {
    let absent: JSON? = nil
    #expect(JSON.object(["a": absent, "b": .null, "c": absent]).text == #"{"b":null}"#)
    #expect(JSON.object(["a": absent]).text == "{}")
    #expect(JSON.members(["a": absent, "b": true]) == [JSON.Member("b", true)])
  }

  @Test func `when values are nested, then the text has no spaces and no line breaks`() {
    let json: JSON = .object(["list": [1, "two", true, false, .null, []], "empty": .object([:])])
    #expect(json.text == #"{"list":[1,"two",true,false,null,[]],"empty":{}}"#)
  }

  @Test(arguments: [
    ("plain", #""plain""#), ("", #""""#), ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("a/b", #""a/b""#),
    ("a\nb", #""a\nb""#), ("\r\n", #""\r\n""#), ("\t", #""\t""#), ("\u{0}", #""\u0000""#), ("\u{1f}", #""\u001f""#),
    ("\u{8}\u{c}", #""\u0008\u000c""#), ("Österreich 🚂", #""Österreich 🚂""#), ("\u{7f}\u{2028}", "\"\u{7f}\u{2028}\""),
  ])
  func `when a string has special characters, then they are escaped`(string: String, text: String) {
    #expect(JSON.string(string).text == text)
  }

  @Test func `when any string is written, then Foundation reads the same string`() throws {
    var scalars = String.UnicodeScalarView()
    for value in UInt32(0)..<0x300 { scalars.append(Unicode.Scalar(value) ?? " ") }
    for value: UInt32 in [0x2028, 0xFEFF, 0xFFFD, 0xFFFF, 0x1F682, 0x10FFFF] {
      scalars.append(Unicode.Scalar(value) ?? " ")
    }
    let string = String(scalars)
    let object = try #require(parsed(.object([.init(string, .string(string))])) as? [String: String])
    let (key, value) = try #require(object.first)
    #expect(Array(value.unicodeScalars) == Array(string.unicodeScalars))
    #expect(Array(key.unicodeScalars) == Array(string.unicodeScalars))
  }

  @Test func `when a key has special characters, then they are escaped`() {
    #expect(JSON.object([.init("a\"\n", 1)]).text == #"{"a\"\n":1}"#)
  }

  @Test func `when integers are at their limits, then all digits are written`() {
    #expect(JSON.integer(.max).text == "9223372036854775807")
    #expect(JSON.integer(.min).text == "-9223372036854775808")
  }
}
