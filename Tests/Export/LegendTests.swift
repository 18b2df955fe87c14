import Coverage
import TestSupport
import Testing

@testable import Export

struct LegendTests {
  @Test(
    "when a fence has a technology, then it has the reference app's colour",
    arguments: [
      ("2G/EDGE", "#FFDE00"), ("3G/HSPA+", "#EFFF00"), ("4G/LTE", "#00DEFF"), ("5G/NRNSA", "#0091FF"),
      ("5G/NR", "#5E00FF"),
      (nil, "#A0A0A0"), ("6G", "#A0A0A0"),
    ])
  func technology(name: String?, colour: String) {
    #expect(Legend.technology(of: .sample(technology: name)).colour == colour)
  }

  @Test("when no ping of a fence was answered, then the fence is grey despite its technology; without pings it is not")
  func withoutAnswer() {
    #expect(Legend.technology(of: .sample(pings: 9, answered: 0, rttSumNanoseconds: 0)).name == "t-none")
    #expect(Legend.technology(of: .sample(pings: 0, answered: 0, rttSumNanoseconds: 0)).name == "t-4g")
  }

  @Test("when styles are named after the entries, then no two share a name, a label or a colour")
  func distinct() {
    let entries = Legend.technologies
    #expect(Set(entries.map(\.name)).count == entries.count && Set(entries.map(\.label)).count == entries.count)
    #expect(Set(entries.map(\.colour)).count == entries.count)
    #expect(entries.allSatisfy { $0.colour.wholeMatch(of: /#[0-9A-F]{6}/) != nil })
  }
}
