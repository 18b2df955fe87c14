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

  @Test("when a fence's last cell is of another technology than its levels, then no level goes to that cell")
  func handover() throws {
    var cell = RadioCell.sample(7)
    cell.kind = .nr
    var info = try #require(RadioInfo(testUUID: UUID().uuidString))
    info.add(cell, Technology("4G/LTE"), levels: [.rsrp: -91, .nrRSRP: -80], at: .seconds(1))
    let text = "\(info.members)"
    #expect(text.contains("5G") && !text.contains("lte_rsrp") && !text.contains("network_type_id"), "\(text)")
    cell.kind = .lte
    info.add(cell, Technology("4G/LTE"), levels: [.rsrp: -91], at: .seconds(2))
    #expect("\(info.members)".contains("lte_rsrp"))
  }
}
