import Testing

@testable import OrderedJSON

@Suite struct JSONWriterTests {
  private func text(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func `when members are written one by one, then the text equals that of the whole object`() {
    let scalars: [JSON] = [
      "a\"b\n", "", "Österreich", .integer(.min), .decimal(units: -1_500, places: 3), .number(1e-7), true, .null, [],
    ]
    let whole = JSON.object([
      "first": 1, "list": .array(scalars), "inner": .object(["empty": .object([:]), "text": "}"]), "last": "{",
    ])
    let written = text { text in
      text.beginObject()
      text.member("first", 1)
      text.key("list")
      text.beginArray()
      for scalar in scalars { text.value(scalar) }
      text.endArray()
      text.key("inner")
      text.beginObject()
      text.key("empty")
      text.beginObject()
      text.endObject()
      text.member("absent", nil)
      text.member("text", "}")
      text.endObject()
      text.member("last", "{")
      text.endObject()
    }
    #expect(written == whole.text)
  }

  @Test func `when the text was removed, then the next value begins without a comma`() {
    var writer = JSONWriter()
    writer.value(1)
    writer.raw(",\n")
    writer.removeAll()
    writer.value(2)
    writer.value(3)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "2,3")
  }

  @Test func `when any integer is written as a decimal, then it has the digits of the integer`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let units = Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random)
      #expect(JSON.integer(units).text == String(units))
      let places = Int.random(in: 1...12, using: &random)
      let text = JSON.decimal(units: units, places: places).text
      let parts = text.split(separator: ".")
      #expect(parts.count == 2, "\(text)")
      let padded = parts[1] + String(repeating: "0", count: places - parts[1].count)
      #expect(Int64(parts[0] + padded) == units, "\(text)")
      #expect(parts[1] == "0" || parts[1].last != "0", "\(text)")
    }
  }
}
