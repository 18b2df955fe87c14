import Foundation
import Testing

@testable import OrderedJSON

/// Properties that readers of logs, exports and requests rely on.
@Suite struct JSONContractTests {
  @Test(
    "when a number is not finite, then null is written: JSON has no such number",
    arguments: [Double.nan, .infinity, -.infinity, .signalingNaN])
  func notFinite(number: Double) {
    #expect(JSON.object(["x": .number(number)]).text == #"{"x":null}"#)
  }

  @Test("when a coordinate is near zero, then it has no exponent: some map programs cannot read exponents")
  func coordinates() {
    for (number, text) in [
      (0.00001, "0.00001"), (-0.00001, "-0.00001"), (1.5e-7, "0.00000015"), (1e-12, "0.000000000001"), (1e-13, "1e-13"),
      (123e-10, "0.0000000123"), (0.0001, "0.0001"), (-0.0, "-0.0"),
    ] {
      #expect(JSON.number(number).text == text)
    }
  }

  @Test("when an object has a key twice, then both members are written, in order")
  func twice() {
    #expect(JSON.object([.init("a", 1), .init("a", 2)]).text == #"{"a":1,"a":2}"#)
  }

  @Test("when values are equal, then their texts are equal, and a decimal equals no integer")
  func equality() {
    #expect(JSON.object(["a": [1, "x", .null]]) == .object(["a": [1, "x", .null]]))
    #expect(JSON.decimal(units: 10, places: 1) != .integer(1))
    #expect(JSON.decimal(units: 10, places: 1).text == "1.0")
    #expect(Set([JSON.bool(true), true, 1]).count == 2)
  }

  @Test("when a text has characters of several scalars, or comes from Foundation, then its bytes are written unchanged")
  func texts() throws {
    let texts = ["e\u{301}", "👩‍👩‍👧", "\u{1F1E6}\u{1F1F9}", "a\u{0}b", String(repeating: "ä", count: 10_000)]
    for text in texts {
      for string in [text, (NSString(string: text) as String), String(text[text.startIndex...])] {
        let read = try JSONDecoder().decode(String.self, from: Data(JSON.string(string).text.utf8))
        #expect(Array(read.utf8) == Array(text.utf8))
      }
    }
  }

  @Test("when values are nested deeply, then the text is complete")
  func depth() {
    var json: JSON = 1
    for _ in 0..<1000 { json = [json] }
    #expect(json.text == String(repeating: "[", count: 1000) + "1" + String(repeating: "]", count: 1000))
  }

  // MARK: The writer

  @Test("when a line is written after another line, then there is no comma between them")
  func lines() {
    var writer = JSONWriter()
    for number in 0..<3 {
      writer.beginObject()
      writer.member("n", .integer(Int64(number)))
      writer.endObject()
      writer.raw("\n")
    }
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n")
  }

  @Test("when arrays and objects are in an array, then there are commas between them, and no comma at the ends")
  func nested() {
    var writer = JSONWriter()
    writer.beginArray()
    writer.beginArray()
    writer.endArray()
    writer.beginObject()
    writer.endObject()
    writer.value("]")
    writer.beginArray()
    writer.value(1)
    writer.endArray()
    writer.endArray()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[[],{},"]",[1]]"#)
  }

  @Test(
    "when a text ends like the beginning of an object or array, then the next value still has its comma",
    arguments: ["{", "[", ":", "\n", ","])
  func texts(text: String) throws {
    var writer = JSONWriter()
    writer.beginArray()
    writer.value(.string(text))
    writer.value(2)
    writer.endArray()
    let read = try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [Any])
    #expect(read.count == 2)
    #expect(read.first as? String == text)
  }
}
