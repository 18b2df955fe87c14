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

  @Test("when no ping of a fence was answered, then it is grey whatever its technology; without pings it is not")
  func withoutAnswer() {
    #expect(Legend.technology(of: .sample(pings: 9, answered: 0, rttSumNanoseconds: 0)).name == "t-none")
    #expect(Legend.technology(of: .sample(pings: 0, answered: 0, rttSumNanoseconds: 0)).name == "t-4g")
  }

  @Test(
    "when a fence has a mean delay, then the limits of the legend are outside of each class",
    arguments: [
      (29, "d-30"), (30, "d-60"), (60, "d-120"), (119, "d-120"), (120, "d-300"), (300, "d-more"), (9000, "d-more"),
    ])
  func delay(milliseconds: Int64, name: String) {
    let fence = Fence.sample(pings: 1, answered: 1, rttSumNanoseconds: milliseconds * 1_000_000)
    #expect(Legend.delay(of: fence).name == name)
  }

  @Test("when nothing was answered, then there is no delay")
  func noDelay() {
    #expect(Legend.delay(of: .sample(pings: 3, answered: 0, rttSumNanoseconds: 0)).name == "d-none")
  }

  @Test(
    "when pings are lost, then the limits of the legend are inside of each class",
    arguments: [
      (100, 100, "l-0"), (100, 99, "l-2"), (100, 98, "l-2"), (1000, 979, "l-10"), (100, 90, "l-10"),
      (1000, 899, "l-more"),
      (100, 1, "l-more"), (100, 0, "l-all"), (1, 0, "l-all"), (0, 0, "l-none"), (.max, 1, "l-more"),
    ])
  func loss(pings: Int, answered: Int, name: String) {
    #expect(Legend.loss(of: .sample(pings: pings, answered: answered, rttSumNanoseconds: 1)).name == name)
  }

  @Test("when the page has a legend, then each class of a circle has a colour and a line in it")
  func complete() {
    for entry in Legend.technologies + Legend.delays + Legend.losses {
      #expect(Legend.style.contains("circle.\(entry.name) { color: \(entry.colour); }"))
      #expect(Legend.html.contains("</i>\(entry.label)</li>"))
    }
  }
}
