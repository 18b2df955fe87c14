import Coverage
import Foundation
import Testing

@testable import Submission

struct RadioInfoTests {
  @Test(
    "when a stored level is out of every range, then the result has the nearest number of 32 bits, and of no number none",
    arguments: [(1e300, "2147483647"), (-.infinity, "-2147483648"), (-91.6, "-92"), (.nan, nil)] as [(Double, String?)])
  func level(value: Double, number: String?) throws {
    var info = try #require(RadioInfo(testUUID: UUID().uuidString))
    info.add(nil, Technology("4G/LTE"), levels: [.rsrp: value], at: .seconds(1))
    let text = "\(info.members)"
    #expect(text.contains("lte_rsrp") == (number != nil), "\(text)")
    if let number { #expect(text.contains(number), "\(text)") }
  }
}
