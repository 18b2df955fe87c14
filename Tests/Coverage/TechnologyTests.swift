import Testing

@testable import Coverage

/// Technologies (docs/algorithm.md, 6; docs/protocol.md, 5).
@Suite struct TechnologyTests {
  var drive = DriveScript()

  @Test mutating func `when the technology changes, then no fence ends`() {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    #expect(drive.radio(at: 2, "5G/NR").isEmpty)
    #expect(drive.spans == [Span(1, nil)])
  }

  @Test mutating func `when a fence opens, then it has the technology of that moment`() {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    #expect(drive.technologies == ["4G/LTE"])
  }

  @Test mutating func `when the technology changes in a fence, then the change counts from the next precise fix`() {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    drive.radio(at: 2, "5G/NRNSA")
    #expect(drive.technologies == ["4G/LTE"])
    drive.fix(at: 3, accuracy: 50)
    #expect(drive.technologies == ["4G/LTE"])
    drive.fix(at: 4)
    #expect(drive.technologies == ["5G/NRNSA"])
  }

  @Test mutating func `when the next precise fix leaves the fence, then the fence keeps its old technology`() {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    drive.radio(at: 2, "2G/EDGE")
    drive.fix(at: 3, north: 100)
    #expect(drive.technologies == ["4G/LTE", "2G/EDGE"])
  }

  @Test mutating func `when service is lost halfway, then the fence keeps its technology and the next has none`() {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    drive.radio(at: 2, nil)
    drive.fix(at: 3)
    #expect(drive.technologies == ["4G/LTE"])
    drive.fix(at: 4, north: 100)
    #expect(drive.technologies == ["4G/LTE", nil])
  }

  @Test mutating func `when service comes in a fence without one, then the fence gets it at the next precise fix`() {
    drive.fix(at: 1)
    drive.radio(at: 2, "3G/UMTS")
    drive.fix(at: 3)
    #expect(drive.technologies == ["3G/UMTS"])
  }

  @Test mutating func `when several technologies are seen, then the last one wins`() {
    for (second, name) in ["4G/LTE", "5G/NR", "2G/GSM"].enumerated() {
      drive.radio(at: Double(second), name)
      drive.fix(at: Double(second) + 0.5)
    }
    #expect(drive.technologies == ["2G/GSM"])
  }

  @Test(arguments: [
    ("2G/GSM", 1), ("2G/EDGE", 2), ("3G/UMTS", 3), ("2G/CDMA", 4), ("2G/EVDO_0", 5), ("2G/EVDO_A", 6),
    ("2G/EVDO_B", 12), ("3G/HSDPA", 8), ("3G/HSUPA", 9), ("4G/LTE", 13), ("2G/HRPD", 14), ("5G/NR", 20),
    ("5G/NRNSA", 41), ("NONE", 1000),
  ])
  func `when a name is in the table of technologies, then it has the table's number`(name: String, id: Int) {
    #expect(Technology(name).id == id)
    #expect(Technology(name).isKnown)
  }

  @Test(arguments: ["", "LTE", "4g/lte", "6G/XR", "WLAN"])
  func `when a name is in no table, then it has no number`(name: String) {
    #expect(Technology(name).id == nil)
    #expect(Technology(name).generation == nil)
  }

  @Test(arguments: [
    ("2G/HRPD", Technology.Generation.two), ("3G/HSDPA", .three), ("4G/LTE", .four),
    ("5G/NRNSA", .fiveNonStandalone), ("5G/NR", .fiveStandalone), ("NONE", .noNetwork),
  ])
  func `when a technology is shown, then it falls into its group`(name: String, group: Technology.Generation) {
    #expect(Technology(name).generation == group)
  }
}
