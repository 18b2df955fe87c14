import Coverage
import Foundation
import TestSupport
import Testing

@testable import Report

/// The reception and the place of a fence, and the cutting of stretches and windows.
struct ReceptionTests {
  private func reported(_ fence: Fence, session: Int64 = 1) -> ReportedFence {
    ReportedFence(fence: fence, drive: 1, session: session, driveStarted: .sampleStart)
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

  // MARK: Neighbours

  @Test("when a fence begins when the previous fence ended, then it continues that fence, in the same session only")
  func neighbours() {
    let first = reported(.sample(number: 3, entered: 10, lasted: 4))
    #expect(first.continues(in: reported(.sample(number: 4, entered: 14))))
    #expect(!first.continues(in: reported(.sample(number: 4, entered: 14.000_001))), "a gap")
    #expect(!first.continues(in: reported(.sample(number: 5, entered: 14))), "a fence is missing")
    #expect(!first.continues(in: reported(.sample(number: 4, entered: 14), session: 2)))
    let last = reported(.sample(number: .max, entered: 10, lasted: 4))
    #expect(!last.continues(in: reported(.sample(number: .min, entered: 14))), "no number is the next one")
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

  @Test(
    "when the way is long enough, then a stretch ends; the worst stretches come first, of equal stretches the earlier")
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
    #expect(worst.worst[0].answered == 0 && worst.worst[0].score == 1e9)
    #expect(worst.worst.map(\.score) == worst.worst.map(\.score).sorted(by: >))
    #expect(worst.worst.allSatisfy { $0.metres >= Stretch.length || $0.fences.count < 6 })
  }

  @Test("when there are gaps, then no stretch crosses them, and a stretch without pings is dropped")
  func gaps() {
    var worst = WorstStretches()
    for number in 0..<3 { worst.add(reported(.sample(number: number, pings: 1, answered: 1)), metres: nil) }
    worst.add(reported(.sample(number: 3, pings: 0, answered: 0, rttSumNanoseconds: 0)), metres: nil)
    worst.end()
    #expect(worst.worst.map(\.fences.count) == [1, 1, 1])
  }

  @Test("when a device stands still, then a stretch ends at the maximum number of fences")
  func standing() {
    var worst = WorstStretches()
    for number in 0..<(Stretch.most + 5) { worst.add(reported(.sample(number: number)), metres: number == 0 ? nil : 0) }
    worst.end()
    #expect(Set(worst.worst.map(\.fences.count)) == [Stretch.most, 5])
  }

  // MARK: Windows

  @Test("when the fix is inaccurate or lost, then a window lasts until the next accurate fix")
  func windows() {
    var windows = InaccurateWindows(accuracyLimit: 15)
    func fix(_ accuracy: Double?) -> Fix {
      Fix(coordinate: Coordinate(latitude: 48, longitude: 16), accuracy: accuracy)
    }
    var accurate: [Bool] = []
    for (second, fix) in [(1, fix(15)), (2, fix(15.1)), (3, fix(nil)), (5, fix(3)), (7, .lost), (6, fix(4))] {
      accurate.append(windows.add(fix, at: .seconds(Double(second))))
    }
    #expect(accurate == [true, false, false, true, false, true])
    #expect(windows.ranges == [.seconds(2) ..< .seconds(5), .seconds(7) ..< .seconds(7)])
  }

  @Test("when the drive ends without an accurate fix, then the last window stays open")
  func openWindow() {
    var windows = InaccurateWindows(accuracyLimit: 15)
    _ = windows.add(.lost, at: .seconds(4))
    #expect(windows.ranges.count == 1 && windows.ranges[0].contains(.seconds(1e6)))
  }
}
