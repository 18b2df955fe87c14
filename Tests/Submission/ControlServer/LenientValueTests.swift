import Foundation
import Testing

@testable import Submission

/// Values that servers send in more than one type (docs/protocol.md, 3).
struct LenientValueTests {
  /// One value as a member of an object.
  private struct Holder<Value: Decodable>: Decodable { let value: Value }

  private func decoded<Value: Decodable>(_ text: String, as type: Value.Type) throws -> Value {
    try JSONDecoder().decode(Holder<Value>.self, from: Data(#"{"value":\#(text)}"#.utf8)).value
  }

  @Test(
    "when a number comes as text or as a number, then its value is the same, to the ends of its range",
    arguments: [
      ("0", 0), (#""0""#, 0), ("-7", -7), (#""-7""#, -7), (#""+7""#, 7),
      ("9223372036854775807", .max), (#""9223372036854775807""#, .max), (#""-9223372036854775808""#, .min),
    ] as [(String, Int64)])
  func numbers(text: String, number: Int64) throws {
    #expect(try decoded(text, as: NumberOrText.self).number == number)
  }

  @Test(
    "when a value is no 64-bit integer, then it is absent, and the rest of the answer is read",
    arguments: [
      "null", "true", "1.5", "1e300", #""""#, #"" 1""#, #""1.5""#, #""seven""#, #""9223372036854775808""#, "[1]",
      #"{"a":1}"#,
    ])
  func noNumbers(text: String) throws {
    #expect(try decoded(text, as: NumberOrText.self).number == nil)
  }

  @Test(
    "when a boolean comes as a boolean, as text or as a number, then its value is the same",
    arguments: [
      ("true", true), ("false", false), (#""true""#, true), (#""FALSE""#, false), (#""1""#, true), (#""0""#, false),
      ("1", true), ("0", false),
    ])
  func truth(text: String, value: Bool) throws {
    #expect(try decoded(text, as: TruthOrText.self).value == value)
  }

  @Test(
    "when a value is no boolean, then it is absent, and the rest of the answer is read",
    arguments: ["null", "2", "-1", "0.5", #""yes""#, #""""#, "[true]", "{}"])
  func noTruth(text: String) throws {
    #expect(try decoded(text, as: TruthOrText.self).value == nil)
  }
}
