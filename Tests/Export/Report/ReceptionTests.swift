import Coverage
import Foundation
import Store
import TestSupport
import Testing

@testable import Export

/// The reception, the distance and the place of a fence, and the cutting of stretches.
struct ReceptionTests {
  private func reported(_ fence: Fence, session: Int64 = 1) -> StoredFence {
    .of(fence, session: session)
  }

  // MARK: Reception

  @Test(
    "when pings were answered, then the technology counts; otherwise the fence is without an answer or not measured",
    arguments: [
      ("4G/LTE", 10, 10, Reception.four), ("4G/LTE", 10, 0, .noAnswer), ("4G/LTE", 0, 0, .notMeasured),
      ("5G/NRNSA", 10, 1, .fiveNonStandalone), ("5G/NR", 10, 1, .fiveStandalone), ("3G/HSPA+", 1, 1, .three),
      ("2G/EDGE", 1, 1, .two), ("NONE", 1, 1, .unknown), ("6G", 1, 1, .unknown), (nil, 1, 1, .unknown),
      ("4G/LTE", -5, 3, .notMeasured), ("4G/LTE", 5, -1, .noAnswer),
    ] as [(String?, Int, Int, Reception)])
  func reception(technology: String?, pings: Int, answered: Int, expected: Reception) {
    #expect(Reception(.sample(technology: technology, pings: pings, answered: answered)) == expected)
  }

  @Test("when receptions are named, then no two share a name, and only two are no coverage")
  func names() {
    #expect(Set(Reception.allCases.map(\.name)).count == Reception.allCases.count)
    #expect(Reception.allCases.filter { !$0.isCoverage } == [.noAnswer, .notMeasured])
  }

  @Test("when Wi-Fi touched a fence, then it is not measured, and its pings count by their answers")
  func wifi() {
    let fence = Fence.sample(pings: 10, answered: 0, isSubmittable: false)
    #expect(Reception(fence) == .notMeasured && Reception(ofPings: fence) == .noAnswer)
    #expect(Reception(ofPings: .sample(pings: 0, answered: 0)) == nil)
    #expect(fence.time(7).map(\.reception) == [.notMeasured])
  }

  @Test("when a fence was on several technologies, then its time is divided, and it counts for the longest one")
  func several() {
    var radio = FenceRadio()
    radio.technologies = [("5G/NR", 100), ("4G/LTE", 899), (nil, 1)].map {
      FenceRadio.Stretch(technology: $0.0, microseconds: $0.1)
    }
    let fence = Fence.sample(technology: "5G/NR", pings: 10, answered: 9, radio: radio)
    #expect(Reception(fence) == .four)
    let parts = fence.time(10_007)
    #expect(parts.map(\.reception) == [.fiveStandalone, .four, .unknown])
    #expect(parts.map(\.microseconds) == [1000, 8996, 11])
    let silent = Fence.sample(pings: 10, answered: 0, radio: radio)
    #expect(silent.time(5).map(\.reception) == [.noAnswer] && silent.time(5).map(\.microseconds) == [5])
  }

  // MARK: Distance

  @Test(
    "when the next fence is within four radii, then there is a distance to it, whatever its test; else there is none")
  func distance() {
    let first = Fence.sample(number: 3, session: 0, latitude: 48, radius: 28)
    func metres(_ number: Int, _ latitude: Double) -> Double? {
      first.distance(to: .sample(number: number, session: 1, entered: 90, latitude: latitude))
    }
    #expect(metres(4, 48.001).map { abs($0 - 111.2) < 0.1 } == true)
    #expect(metres(4, 48.00102) == nil, "113.4 m are more than 112")
    #expect(metres(5, 48.0001) == nil, "a fence is missing")
    let last = Fence.sample(number: .max)
    #expect(last.distance(to: .sample(number: .min)) == nil && last.distance(to: last) == nil)
  }

  @Test("when a fence is open or ends before it began, then its duration is 0")
  func noTime() {
    #expect(reported(.sample(lasted: nil)).microseconds == 0)
    #expect(reported(.sample(entered: 10, lasted: -3)).microseconds == 0)
    #expect(reported(.sample(entered: 10, lasted: 2.5)).microseconds == 2_500_000)
  }

  // MARK: Places

  @Test("when two places are in one cell, then they are no further apart than its diagonal, at any latitude")
  func cells() throws {
    let grid = PlaceGrid(metres: 50)
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      let latitude = Double.random(in: -80...80, using: &generator)
      let longitude = Double.random(in: -180...179.9, using: &generator)
      let here = try #require(Coordinate(latitude: latitude, longitude: longitude))
      let step = Double.random(in: 0...0.0004, using: &generator)
      let there = try #require(Coordinate(latitude: latitude + step, longitude: longitude + step))
      if grid.cell(of: here) == grid.cell(of: there) { #expect(here.distance(to: there) < 50 * 1.5) }
    }
  }

  @Test("when places are half a kilometre apart, then they are in different cells")
  func otherCells() throws {
    let grid = PlaceGrid(metres: 50)
    let here = try #require(Coordinate(latitude: 48.2, longitude: 16.3))
    for (north, east) in [(0.005, 0.0), (-0.005, 0), (0, 0.008), (0, -0.008)] {
      let there = try #require(Coordinate(latitude: 48.2 + north, longitude: 16.3 + east))
      #expect(grid.cell(of: here) != grid.cell(of: there))
    }
  }

  @Test(
    "when a size is not possible, then the nearest possible one is used",
    arguments: [
      (0, 10), (-5, 10), (1e9, 10_000), (.nan, 50), (.infinity, 50), (75, 75),
    ] as [(Double, Double)])
  func sizes(asked: Double, used: Double) {
    #expect(PlaceGrid(metres: asked).metres == used)
  }

  @Test("when a place is a pole or at the antimeridian, then its cell is computed without an overflow")
  func extremes() throws {
    func cell(_ latitude: Double, _ longitude: Double) throws -> PlaceGrid.Cell {
      PlaceGrid(metres: 10).cell(of: try #require(Coordinate(latitude: latitude, longitude: longitude)))
    }
    // A quarter of the meridian has 1,000,755 cells of 10 m, half of the equator 2,001,511.
    #expect(try cell(90, 180).row == 1_000_755 && cell(-90, -180).row == -1_000_756)
    #expect(try cell(0, 180).column == 2_001_511 && cell(0, -180).column == -2_001_512)
    #expect(try cell(89.999, -180).column == -20_016)
  }

  // MARK: Stretches

  @Test("when fences are 100 m apart, then stretches are near 500 m; the worst come first, of equal ones the earlier")
  func stretches() {
    var worst = WorstStretches()
    for number in 0..<50 {
      let isBad = (20..<30).contains(number)
      let fence = Fence.sample(
        number: number, entered: Double(number) * 4, lasted: 4, pings: 10, answered: isBad ? 0 : 10,
        rttSumNanoseconds: isBad ? 0 : 300_000_000)
      worst.add(reported(fence), metres: number == 0 ? nil : 100)
    }
    worst.end()
    #expect(worst.worst.count == WorstStretches.most)
    #expect(worst.worst[0].sums.answered == 0 && worst.worst[0].score == 1e9)
    #expect(worst.worst.map(\.score) == worst.worst.map(\.score).sorted(by: >))
    #expect(worst.worst.allSatisfy { $0.metres == 500 && $0.isLong })
  }

  @Test(
    "when steps are long, then a stretch ends where it is nearest to 500 m",
    arguments: [(150.0, 450.0), (170, 510), (320, 640), (90, 540)])
  func nearest(step: Double, length: Double) {
    var worst = WorstStretches()
    for number in 0..<20 { worst.add(reported(.sample(number: number)), metres: number == 0 ? nil : step) }
    worst.end()
    #expect(worst.worst[0].metres == length && worst.worst[0].isLong == (length < 625))
  }

  @Test("when there are gaps, then no stretch crosses them, and a stretch without pings is dropped")
  func gaps() {
    var worst = WorstStretches()
    for number in 0..<3 { worst.add(reported(.sample(number: number, pings: 1, answered: 1)), metres: nil) }
    worst.add(reported(.sample(number: 3, pings: 0, answered: 0, rttSumNanoseconds: 0)), metres: nil)
    worst.end()
    #expect(worst.worst.map(\.fences.count) == [1, 1, 1])
  }

  @Test("when a short stretch is worse than a long one, then it stands behind it and is not long")
  func short() {
    var worst = WorstStretches()
    worst.add(reported(.sample(number: 0, pings: 10, answered: 0)), metres: nil)
    for number in 2..<9 { worst.add(reported(.sample(number: number)), metres: number == 2 ? nil : 100) }
    worst.end()
    #expect(worst.worst.map(\.isLong) == [true, false, false] && worst.worst[1].sums.lost == 10)
  }

  @Test("when fences of two links alternate, then each link has stretches of its own")
  func links() {
    var worst = WorstStretches()
    for number in 0..<6 {
      for drive in [Int64(1), 2] {
        worst.add(.of(.sample(number: number), drive: drive), metres: number == 0 ? nil : 100)
      }
    }
    worst.end()
    #expect(worst.worst.map(\.metres) == [500, 500] && worst.worst.map(\.fences.count) == [6, 6])
  }

  @Test("when a device stands still, then a stretch ends at the maximum number of fences")
  func standing() {
    var worst = WorstStretches()
    for number in 0..<(Stretch.most + 5) { worst.add(reported(.sample(number: number)), metres: number == 0 ? nil : 0) }
    worst.end()
    #expect(Set(worst.worst.map(\.fences.count)) == [Stretch.most, 5])
  }
}
