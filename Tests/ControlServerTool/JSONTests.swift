import Testing

@testable import control_server

@Suite struct JSONTests {
  @Test(arguments: [
    #"{"a":1.50,"b":[true,false,null],"c":"\u00e4\ud83d\ude00\n","a":2e3}"#, "[]", "{}", "-0.0", #""""#, "1E+5",
  ])
  func readsAndWritesAgain(text: String) throws {
    let value = try JSONParser.parse(Array(text.utf8))
    #expect(try JSONParser.parse(Array(value.text.utf8)) == value)
  }

  @Test func keepsSpellings() throws {
    let text = #"{"z":31.670000000000002,"a":15.0}"#
    #expect(try JSONParser.parse(Array(text.utf8)).text == text)
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\":1,}", "{\"a\"}", "01", "1.", ".5", "+1", "NaN", "nul", "1 2", "\"\u{1}\"", #""\x""#,
    #""\ud800""#, #""\u12"#, "[1", "{'a':1}", "\"abc",
  ])
  func refuses(text: String) {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(text.utf8)) }
  }

  @Test func refusesBrokenUTF8AndDepth() {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(deep) }
  }
}
