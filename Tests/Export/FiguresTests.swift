import Coverage
import OrderedJSON
import TestSupport
import Testing

@testable import Export

/// The forms of figures, and the titles that other programs' maps show.
struct FiguresTests {
  @Test(
    "when a figure has more decimals than its precision, then it is rounded half away from zero",
    arguments: [
      (1.005, 2, "1.0"), (2.5, 0, "3"), (-2.5, 0, "-3"), (171.324_999, 2, "171.32"), (-0.001, 2, "0.0"),
      (48.208_201_25, 7, "48.2082013"), (1e300, 2, "1e+300"),
    ] as [(Double, Int, String)])
  func figures(value: Double, places: Int, text: String) {
    #expect(JSON.figure(value, places).plainText == text)
  }

  @Test(
    "when a delay is written, then it is in milliseconds to the nearest microsecond",
    arguments: [
      (0, "0.0"), (31_670_499, "31.67"), (31_670_500, "31.671"), (-500, "-0.001"), (1_000_000_000_000, "1000000.0"),
    ]
      as [(Int64, String)])
  func delays(nanoseconds: Int64, text: String) {
    #expect(JSON.delay(nanoseconds).plainText == text)
  }

  @Test("when a delay is at an end of its range, then nothing overflows")
  func extremes() {
    for value in [Int64.min, .max, .min + 1] { #expect(!JSON.delay(value).plainText.isEmpty) }
  }

  @Test(
    "when a decimal is converted to a double, then it equals the double that is read from its text",
    arguments: [
      (31_670, 3), (1, 7), (482_082_012, 7), (-163_738_123, 7), (9_007_199_254_740_991, 3), (0, 5), (7, 0),
    ] as [(Int64, Int)])
  func binary(units: Int64, places: Int) throws {
    let read = try #require(Double(JSON.decimal(units: units, places: places).text))
    #expect(JSON.number(units, places: places) == read)
  }

  @Test("when a value is written as plain text, then a text has no quotes, and other values are as in JSON")
  func plain() {
    #expect(JSON.string("a \"b\"").plainText == "a \"b\"")
    #expect(JSON.bool(true).plainText == "true" && JSON.integer(-7).plainText == "-7")
    #expect(JSON.object([.init("4G/LTE", .decimal(units: 75, places: 2))]).plainText == #"{"4G/LTE":0.75}"#)
  }

  @Test("when a fence has answers, then its title has technology and mean; without answers, it reports that")
  func titles() {
    #expect(FenceTitle.short(.sample()) == "4G/LTE 31.7 ms")
    #expect(FenceTitle.short(.sample(technology: nil, answered: 0)) == "NONE no answer")
    #expect(FenceTitle.long(.sample()) == "mean 31.7 ms, 1 of 40 pings lost (2.5 %)")
    #expect(FenceTitle.long(.sample(pings: 1, answered: 0)) == "no answer, 1 of 1 ping lost (100.0 %)")
    #expect(FenceTitle.long(.sample(pings: 0, answered: 0)) == "no pings, not measured")
    let besideWifi = Fence.sample(pings: 8, answered: 0, rttSumNanoseconds: 0, isSubmittable: false)
    #expect(
      FenceTitle.long(besideWifi) == "no answer, 8 of 8 pings lost (100.0 %), not measured, Wi-Fi, or pings not sent")
  }
}
