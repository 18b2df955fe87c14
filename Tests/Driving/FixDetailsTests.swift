import Coverage
import OrderedJSON
import Testing

@testable import Driving
@testable import Positioning

struct FixDetailsTests {
  private func text(_ positioned: PositionedFix) -> String { JSON.object(positioned.details).text }

  @Test("when a fix is logged, then the receiver's values are logged beside it unchanged")
  func raw() {
    var report = TPV()
    (report.mode, report.status, report.eph, report.epx, report.epy, report.epv) = (3, 2, 16.2, 5.2, 6.1, 11.5)
    let positioned = PositionedFix(
      fix: Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3), accuracy: 10), arrival: .now,
      accuracyRule: .ephSigma, driver: "u-blox", report: report, dilution: Dilution(hdop: 0.9, xdop: 0.5, ydop: 0.75),
      gst: GSTReport(device: nil, latitude: 1.5, longitude: 2.5), refusedSpeed: 5000)
    #expect(
      text(positioned)
        == #"{"accuracy_source":"eph","accuracy_rule":"eph-sigma","driver":"u-blox","mode":3,"status":2,"eph":16.2,"#
        + #""epx":5.2,"epy":6.1,"epv":11.5,"hdop":0.9,"xdop":0.5,"ydop":0.75,"gst_latitude":1.5,"gst_longitude":2.5,"#
        + #""refused_speed":5000.0}"#)
  }

  @Test("when the receiver left values out, then so does the log")
  func absent() {
    var report = TPV()
    report.mode = 2
    let positioned = PositionedFix(
      fix: Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3)), arrival: .now, report: report)
    #expect(text(positioned) == #"{"mode":2}"#)
    #expect(text(PositionedFix(fix: .lost, arrival: .now)) == "{}")
  }

  @Test("when receivers name their models, then a line has the model when it is another than before")
  func model() throws {
    var rig = DriveRig()
    try rig.startPinging()
    for model in [nil, "M8", "M8", nil, "M8", "M9"] {
      rig.wait(1)
      rig.fix(0, model: model)
    }
    let fixes = zip(rig.disk.events, rig.disk.details).filter { if case .fix = $0.0.kind { true } else { false } }
    #expect(
      fixes.map { $0.1.first { $0.key == "model" }?.value } == [nil, .string("M8"), nil, nil, nil, .string("M9")])
  }
}
