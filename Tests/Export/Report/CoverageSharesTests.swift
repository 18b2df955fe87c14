import Coverage
import Store
import TestSupport
import Testing

@testable import Export

/// The shares of way, time and pings, against sums that are computed independently.
@Suite struct CoverageSharesTests {
  private func shares(_ fences: [StoredFence]) -> CoverageShares {
    var shares = CoverageShares()
    for fence in fences { shares.add(fence) }
    return shares
  }

  @Test(
    "when fences of every kind follow each other, then each part is the sum over its fences, and the total is the drive's"
  )
  func sums() {
    for seed in 0..<20 as Range<UInt64> {
      var road = RandomRoad(random: SeededGenerator(seed: seed))
      let fences = road.fences(200)
      let shares = shares(fences)
      for reception in Reception.allCases {
        let own = fences.filter { Reception($0.fence) == reception }
        guard let part = shares.parts[reception] else {
          #expect(own.isEmpty)
          continue
        }
        #expect(part.fences == own.count)
        #expect(part.microseconds == own.map(\.microseconds).reduce(0, +))
        let counted = fences.filter { Reception(ofPings: $0.fence) == reception }
        #expect(part.pings == counted.map(\.fence.pings).reduce(0, +))
        #expect(part.answered == counted.map(\.fence.pingsAnswered).reduce(0, +))
      }
      let ways = zip(fences, fences.dropFirst()).compactMap { $0.fence.distance(to: $1.fence) }
      #expect(abs(shares.total.metres - ways.reduce(0, +)) < 1e-6 && ways.count > 50)
      #expect(shares.total.fences == 200 && shares.total.pings == fences.map(\.fence.pings).reduce(0, +))
      #expect(shares.covered.fences == fences.count { $0.fence.pingsAnswered > 0 })
      #expect(shares.measured.fences == fences.count { $0.fence.isMeasured })
    }
  }

  @Test(
    "when a fence follows within four radii, then adding it returns the distance to it, also from another test")
  func way() {
    var shares = CoverageShares()
    #expect(shares.add(.of(.sample(number: 0, entered: 10))) == nil)
    let metres = shares.add(.of(.sample(number: 1, entered: 14, latitude: 48.2087), session: 2))
    #expect(abs((metres ?? 0) - 55.6) < 0.5)
    #expect(shares.add(.of(.sample(number: 2, entered: 18, latitude: 48.2097), session: 2)) == nil, "a jump")
    #expect(
      shares.add(.of(.sample(number: 4, entered: 26, latitude: 48.2097), session: 2)) == nil, "a fence is missing")
    #expect(shares.add(.of(.sample(number: 5, entered: 26, latitude: 48.2097), drive: 2)) == nil, "another drive")
    #expect(abs(shares.total.metres - 55.6) < 0.5)
  }

  @Test("when two links measure one drive, then it has one distance, divided by their classes; their pings add up")
  func links() throws {
    var shares = CoverageShares()
    for number in 0..<11 {
      let latitude = 48 + Double(number) * 0.0005
      shares.add(.of(.sample(number: number, latitude: latitude, technology: "4G/LTE"), drive: 7, link: "A"))
      shares.add(
        .of(
          .sample(number: number, latitude: latitude, technology: "5G/NR"), drive: 8, session: 2, link: "B",
          started: .sampleStart.later(by: .milliseconds(1))))
      shares.add(
        .of(
          .sample(number: number, latitude: latitude), drive: 9, session: 3,
          started: .sampleStart.later(by: .seconds(3600))))
    }
    #expect(abs(shares.total.metres - 2 * 556) < 1, "556 m, twice: the other drive over the same road counts")
    #expect(abs(try #require(shares.parts[.fiveStandalone]).metres - 278) < 1)
    #expect(shares.total.pings == 33 * 40)
  }

  @Test("when a fence was on two technologies, then time and distance are divided by its time on each")
  func technologies() throws {
    var radio = FenceRadio()
    radio.technologies = [
      .init(technology: "5G/NR", microseconds: 3_600_000), .init(technology: "4G/LTE", microseconds: 400_000),
    ]
    let shares = shares([
      .of(.sample(number: 0, technology: "4G/LTE", radio: radio)),
      .of(.sample(number: 1, entered: 14, latitude: 48.2087, pings: 0, answered: 0)),
    ])
    let (four, five) = (try #require(shares.parts[.four]), try #require(shares.parts[.fiveStandalone]))
    #expect((four.microseconds, five.microseconds) == (400_000, 3_600_000))
    #expect(abs(four.metres - 5.56) < 0.05 && abs(five.metres - 50.04) < 0.45)
    #expect((four.pings, five.pings, five.fences) == (0, 40, 1))
    #expect(shares.measured.microseconds == 4_000_000 && shares.total.microseconds == 8_000_000)
  }

  @Test("when no ping was sent for a part of a fence, then that time is not measured, in each technology's share")
  func unmeasured() throws {
    var radio = FenceRadio()
    radio.technologies = [
      .init(technology: "5G/NR", microseconds: 3_000_000), .init(technology: "4G/LTE", microseconds: 1_000_000),
    ]
    let fence = Fence.sample(radio: radio)
    var shares = shares([.of(fence)])
    shares.setUnmeasured(2_000_000, of: fence, drive: 1)
    #expect(
      shares.parts.mapValues(\.microseconds) == [.fiveStandalone: 1_500_000, .four: 500_000, .notMeasured: 2_000_000])
    shares.setUnmeasured(2_000_000, of: fence, drive: 5)
    #expect(shares.total.microseconds == 4_000_000)
  }

  @Test("when a way leads from coverage into no coverage, then it counts for the fence in which it begins")
  func border() throws {
    let shares = shares([
      .of(.sample(number: 0, entered: 10, radius: 60, technology: "4G/LTE")),
      .of(.sample(number: 1, entered: 14, latitude: 48.2092, radius: 60, answered: 0)),
      .of(.sample(number: 2, entered: 18, latitude: 48.2112, technology: "4G/LTE")),
    ])
    #expect(abs(try #require(shares.parts[.four]).metres - 111.2) < 0.5)
    #expect(abs(try #require(shares.parts[.noAnswer]).metres - 222.4) < 0.5)
  }

  @Test("when the total is zero, then a share is absent, not zero")
  func nothing() {
    let none = CoverageShares.Percentages(.init(), of: .init())
    #expect(none.way == nil && none.time == nil && none.pings == nil)
    var still = CoverageShares.Part()
    (still.microseconds, still.pings) = (4_000_000, 0)
    let shares = CoverageShares.Percentages(still, of: still)
    #expect(shares.way == nil && shares.time == 100 && shares.pings == nil)
  }

  @Test("when parts are a quarter of all, then their percentages are 25")
  func quarter() {
    let part = CoverageShares.Part(fences: 1, metres: 250, microseconds: 2_000_000, pings: 10, answered: 3)
    let total = CoverageShares.Part(fences: 9, metres: 1000, microseconds: 8_000_000, pings: 40, answered: 40)
    let shares = CoverageShares.Percentages(part, of: total)
    #expect(shares.way == 25 && shares.time == 25 && shares.pings == 25)
  }

  @Test("when a damaged fence has the largest numbers, then sums stop at the limit")
  func limit() {
    let fences = (0..<3).map { number in
      StoredFence.of(.sample(number: number, entered: 10 + Double(number) * 4, pings: .max, answered: .max))
    }
    let total = shares(fences).total
    #expect(total.pings == .max && total.answered == .max && total.fences == 3)
  }

  @Test("when a road has many places without an answer, then the share of distance with coverage has an interval")
  func interval() throws {
    var (shares, series) = (CoverageShares(), CorrelatedSeries(length: 3, seed: 12))
    for (number, isSilent) in series.states(800, share: 0.3).enumerated() {
      shares.add(
        .of(
          .sample(
            number: number, entered: 10 + Double(number) * 4, latitude: 48 + Double(number) * 0.0004, radius: 30,
            answered: isSilent ? 0 : 39)))
    }
    let found = try #require(shares.coveredDistance)
    let share = shares.covered.metres / shares.measured.metres
    #expect(abs(found.estimate.value - share) < 1e-6)
    #expect(found.estimate.lower < share && share < found.estimate.upper && found.estimate.upper < share + 0.1)
    #expect((40...500).contains(found.estimate.effective))
  }

  @Test("when there are many fences, then runs of them give about the interval of all distances one by one")
  func manyFences() throws {
    var (shares, series) = (CoverageShares(), CorrelatedSeries(length: 50, seed: 13))
    let states = series.states(40_000, share: 0.3)
    // Four drives, so that a run never has fences of two.
    for (place, isSilent) in states.enumerated() {
      let number = place % 10_000
      shares.add(
        .of(
          .sample(
            number: number, entered: 10 + Double(number) * 4, latitude: 48 + Double(number) * 0.0004, radius: 30,
            answered: isSilent ? 0 : 39), drive: Int64(place / 10_000 + 1)))
    }
    let found = try #require(shares.coveredDistance).estimate
    let single = try #require(Estimate.share(ofPieces: states.map { (whole: 1, part: $0 ? 0 : 1) })).estimate
    #expect(abs(found.value - shares.covered.metres / shares.measured.metres) < 1e-9)
    #expect(abs(found.value - single.value) < 1e-3)
    #expect(abs((found.upper - found.lower) / (single.upper - single.lower) - 1) < 0.1)
  }
}
