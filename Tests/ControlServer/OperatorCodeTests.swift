import Testing

@testable import ControlServer

/// The code of an operator in requests (docs/protocol.md, 3.5).
struct OperatorCodeTests {
  @Test(
    "when a code has a network of two or three digits, then a dash separates it from the country",
    arguments: [("23201", "232-01"), ("310410", "310-410"), ("00000", "000-00")])
  func code(digits: String, expected: String) {
    #expect(OperatorCode.withDash(digits) == expected)
  }

  @Test(
    "when a text is no operator code, then the request has no operator code",
    arguments: ["", "2320", "2320100", "232-1", "２３２０１", "23 01", "--", "23201\n"])
  func others(text: String) {
    #expect(OperatorCode.withDash(text) == nil)
  }
}
