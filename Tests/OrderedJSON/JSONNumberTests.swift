import Foundation
import Testing

@testable import OrderedJSON

@Suite struct JSONNumberTests {
  /// Not by JSONSerialization: on Linux it misreads numbers of 17 digits by a unit in the last place.
  private func double(_ json: JSON) throws -> Double {
    try JSONDecoder().decode(Double.self, from: Data(json.text.utf8))
  }

  @Test(arguments: [
    (31_670_000, 6, "31.67"), (31_000_000, 6, "31.0"), (0, 6, "0.0"), (1, 6, "0.000001"), (-1, 6, "-0.000001"),
    (-500_000, 6, "-0.5"), (1_500_000, 6, "1.5"), (10, 1, "1.0"), (7, 0, "7"), (-7, 0, "-7"), (0, 0, "0"),
    (100, 0, "100"), (123_456_789, 6, "123.456789"), (120, 3, "0.12"), (.max, 6, "9223372036854.775807"),
    (.min, 6, "-9223372036854.775808"), (5, 20, "0.00000000000000000005"),
  ])
  func `when a decimal is written, then it is exact, with at most one trailing zero`(
    units: Int64, places: Int, text: String
  ) {
    #expect(JSON.decimal(units: units, places: places).text == text)
  }

  @Test(arguments: [
    (0.1, "0.1"), (48.2082, "48.2082"), (5, "5.0"), (-0.0, "-0.0"), (0.000_1, "0.0001"), (0.000_01, "0.00001"),
    (-0.000_015, "-0.000015"), (1e-7, "0.0000001"), (1.25e-12, "0.00000000000125"), (1e15, "1000000000000000.0"),
    (123_456_789.125, "123456789.125"),
  ])
  func `when a number is written, then it is the shortest text, without an exponent if it is small`(
    number: Double, text: String
  ) {
    #expect(JSON.number(number).text == text)
  }

  @Test(arguments: [Double.nan, -.nan, .infinity, -.infinity, .signalingNaN])
  func `when a number is not finite, then it is null`(number: Double) {
    #expect(JSON.number(number).text == "null")
  }

  @Test func `when any finite number is written, then it reads back the same`() throws {
    var random = SystemRandomNumberGenerator()
    var numbers = [
      Double.pi, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 1e16, 1e21, 1e-13,
    ]
    for _ in 0..<500 { numbers.append(Double(bitPattern: .random(in: .min ... .max, using: &random))) }
    for _ in 0..<500 { numbers.append(.random(in: -180...180, using: &random)) }
    for exponent in -20...20 { numbers.append(.random(in: 1..<10, using: &random) * pow(10, Double(exponent))) }
    for number in numbers where number.isFinite {
      #expect(try double(.number(number)) == number, "\(number)")
      #expect(try double(.number(-number)) == -number, "\(number)")
    }
  }

  @Test(arguments: [
    (31.669_999_999_999_998, 2, "31.67"), (1.5, 0, "2"), (2.5, 0, "3"), (-2.5, 0, "-3"), (0.04, 1, "0.0"),
    (-0.04, 1, "0.0"), (12.345_678_9, 6, "12.345679"), (100, 3, "100.0"),
  ])
  func `when a number is rounded, then halves round away from zero`(number: Double, places: Int, text: String) {
    #expect(JSON.rounded(number, places: places)?.text == text)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, 9.3e12])
  func `when a number cannot be rounded to units that fit, then there is no result`(number: Double) {
    #expect(JSON.rounded(number, places: 6) == nil)
  }
}
