import Coverage
import Testing

/// The code of a network, as modems and the control server write it (docs/protocol.md, 3.5).
struct OperatorCodeTests {
  @Test(
    "when a code has a network of two or three digits, then a dash separates it from the country",
    arguments: [("23201", "232-01"), ("310410", "310-410"), ("00000", "000-00")])
  func code(digits: String, expected: String) {
    #expect(OperatorCode(digits)?.withDash == expected)
  }

  @Test(
    "when a text is no operator code, then it is none",
    arguments: ["", "2320", "2320100", "232-1", "２３２０１", "23 01", "--", "23201\n"])
  func others(text: String) {
    #expect(OperatorCode(text) == nil)
  }

  @Test("when country and network are apart, then each has its own number of digits")
  func parts() {
    #expect(OperatorCode(country: "310", network: "410")?.digits == "310410")
    #expect(OperatorCode(country: "2320", network: "01") == nil)
    #expect(OperatorCode(country: "23", network: "201") == nil)
    #expect(OperatorCode(country: "232", network: "1") == nil)
  }
}
