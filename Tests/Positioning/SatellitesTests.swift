import Foundation
import TestSupport
import Testing

@testable import Positioning

/// How many satellites a receiver has, from SKY reports.
struct SatellitesTests {
  private func report(_ text: String) -> GPSDReport? { GPSDReport(line: Array(text.utf8)) }

  private func satellites(_ text: String) -> Satellites? {
    guard case .sky(_, _, let satellites)? = report(text) else { return nil }
    return satellites
  }

  @Test("when gpsd counts the satellites, then its counts are used; when it only lists them, then the list is counted")
  func reports() {
    #expect(satellites(#"{"class":"SKY","nSat":8,"uSat":5}"#) == Satellites(seen: 8, used: 5))
    #expect(satellites(#"{"class":"SKY","nSat":0,"uSat":0}"#) == Satellites(seen: 0, used: 0))
    #expect(
      satellites(#"{"class":"SKY","satellites":[{"PRN":1,"used":true},{"PRN":2,"used":false},{"PRN":3}]}"#)
        == Satellites(seen: 3, used: 1))
  }

  @Test(
    "when a report has no satellites, or impossible numbers, then their number is unknown",
    arguments: [
      #"{"class":"SKY","hdop":1.2}"#, #"{"class":"SKY","satellites":[]}"#, #"{"class":"SKY","nSat":5,"uSat":6}"#,
      #"{"class":"SKY","nSat":-1,"uSat":-1}"#, #"{"class":"SKY","nSat":1e300,"uSat":0}"#,
      #"{"class":"SKY","nSat":5.5,"uSat":1}"#,
    ])
  func none(text: String) { #expect(satellites(text) == nil) }

  @Test("when the number changes, then it is reported once, and not with each report")
  func changes() throws {
    var filter = FixFilter.fresh()
    func apply(_ seen: Int, _ used: Int, device: String? = "g", at second: Double) -> [PositioningEvent] {
      filter.apply(.sky(device: device, Dilution(hdop: 1), Satellites(seen: seen, used: used)), at: TestTime.at(second))
        .filter { if case .satellites = $0 { true } else { false } }
    }
    let four = try #require(Satellites(seen: 9, used: 4))
    #expect(apply(9, 4, at: 0.1) == [.satellites(four)])
    #expect(apply(9, 4, at: 1.1).isEmpty)
    #expect(apply(9, 5, at: 2.1).count == 1 && apply(9, 4, at: 3.1) == [.satellites(four)])
  }

  @Test(
    "when recordings of real receivers are read, then each report with counts has those counts",
    arguments: ["ublox-8", "bu303-moving", "garmin15x", "bu303-nofix"])
  func recordings(name: String) throws {
    let text = try String(contentsOf: Surroundings.fixture("gpsd/\(name).gpsd322.json"), encoding: .utf8)
    let skies = text.split(whereSeparator: \.isNewline).filter { $0.contains("\"class\":\"SKY\"") }
    #expect(!skies.isEmpty)
    for line in skies where line.contains("\"nSat\"") {
      let found = try #require(satellites(String(line)))
      #expect(line.contains("\"nSat\":\(found.seen),\"uSat\":\(found.used)"))
    }
  }
}
