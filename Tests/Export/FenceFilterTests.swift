import Coverage
import TestSupport
import Testing

@testable import Export

/// Which fences an export selects.
struct FenceFilterTests {
  private func filter(_ change: (inout FenceFilter) -> Void) -> FenceFilter {
    var filter = FenceFilter()
    change(&filter)
    return filter
  }

  @Test("when no condition is given, then every fence is selected")
  func all() {
    #expect(FenceFilter().selects(.whole()) && FenceFilter().selects(.bare()))
  }

  @Test(
    "when a time range is given, then it selects the fences that began in it, its start included, its end excluded",
    arguments: [(9, 11, true), (10, 11, true), (9, 10, false), (11, 20, false)])
  func times(from: Int, to: Int, isSelected: Bool) {
    let filter = filter {
      $0.from = .sampleStart.later(by: .seconds(from))
      $0.to = .sampleStart.later(by: .seconds(to))
    }
    #expect(filter.selects(.bare()) == isSelected)
  }

  @Test("when a time range is given, then a replayed fence, which has no wall time, is not selected")
  func replayed() {
    let record = FenceRecord(fence: .sample(), session: Session(number: 0, started: .start), origin: .replay)
    #expect(!filter { $0.from = .sampleStart }.selects(record))
    #expect(filter { $0.links = [] }.selects(record))
  }

  @Test(
    "when a box is given, then its edges belong to it, and a box with its west east of its east crosses 180 degrees",
    arguments: [
      ("16,48,17,49", 16.3, true), ("16.3,48.2,16.3,48.2", 16.3, true), ("16.31,48,17,49", 16.3, false),
      ("16,48.21,17,49", 16.3, false), ("170,0,-170,60", 175, true), ("170,0,-170,60", -175, true),
      ("170,0,-170,60", 0, false), (" -180, -90, 180, 90 ", -16.3, true),
      ("16.3000001,48,17,49", 16.300000096, true), ("16,48,16.3,49", 16.300000049, true),
      ("16,48,16.3,49", 16.300000051, false),
    ])
  func boxes(text: String, longitude: Double, isSelected: Bool) throws {
    let box = try #require(SearchBox(text))
    #expect(filter { $0.box = box }.selects(.bare(longitude: longitude)) == isSelected)
  }

  @Test(
    "when a box is malformed, then it is refused",
    arguments: ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1,2,3,1", "181,0,182,1", "0,-91,1,1", "nan,0,1,1", "1,,2,3"])
  func noBox(text: String) {
    #expect(SearchBox(text) == nil)
  }

  @Test(
    "when a technology is given, then a generation selects all of its technologies",
    arguments: [
      ("4G/LTE", "4G/LTE", true), ("4g", "4G/LTE CA", true), ("4G", "3G/UMTS", false), ("5G", "5G/NR", true),
      ("5G", "5G/NRNSA", true), ("5G SA", "5G/NRNSA", false), ("5g nsa", "5G/NRNSA", true), ("none", nil, true),
      ("2G", nil, false), ("5G", "6G", false), ("2g/edge", "2G/EDGE", true),
    ] as [(String, String?, Bool)])
  func technologies(text: String, name: String?, isSelected: Bool) throws {
    let pattern = try #require(TechnologyPattern(text))
    let record = FenceRecord(
      fence: .sample(technology: name), session: Session(number: 0, started: .start), origin: .replay)
    #expect(filter { $0.technologies = [pattern] }.selects(record) == isSelected)
  }

  @Test("when a technology is unknown, then it is refused", arguments: ["", "6G", "LTE", "4G/"])
  func noTechnology(text: String) {
    #expect(TechnologyPattern(text) == nil)
  }

  @Test("when links are given, then a fence without a link is not selected")
  func links() {
    let filter = filter { $0.links = ["A", "C"] }
    #expect(filter.selects(.whole(link: "A")) && !filter.selects(.whole(link: "B")) && !filter.selects(.bare()))
  }

  @Test("when there are several conditions, then a fence must meet all of them")
  func several() {
    let filter = filter {
      $0.links = ["A"]
      $0.technologies = [.name("4G/LTE")]
      $0.box = SearchBox("0,0,1,1")
    }
    #expect(!filter.selects(.whole()))
    #expect(filter.selects(.whole(latitude: 0.5, longitude: 0.5)))
  }
}
