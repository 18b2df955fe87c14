import Coverage
import TestSupport
import Testing

@testable import Report

/// The shares of way, time and pings, against sums that are computed independently.
@Suite struct CoverageSharesTests {
  private func shares(_ fences: [ReportedFence]) -> CoverageShares {
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
        #expect(part.pings == own.map(\.fence.pings).reduce(0, +))
        #expect(part.answered == own.map(\.fence.pingsAnswered).reduce(0, +))
      }
      let ways = zip(fences, fences.dropFirst()).filter { $0.continues(in: $1) }
        .map { $0.fence.centre.distance(to: $1.fence.centre) }
      #expect(abs(shares.total.metres - ways.reduce(0, +)) < 1e-6)
      #expect(shares.total.fences == 200 && shares.covered.fences == fences.count { $0.fence.pingsAnswered > 0 })
    }
  }

  @Test(
    "when a fence follows without a gap, then adding it returns the way to it; after a gap or another session, nothing")
  func way() {
    var shares = CoverageShares()
    #expect(shares.add(.of(.sample(number: 0, entered: 10))) == nil)
    let metres = shares.add(.of(.sample(number: 1, entered: 14, latitude: 48.2092)))
    #expect(abs((metres ?? 0) - 111.2) < 0.5)
    #expect(shares.add(.of(.sample(number: 2, entered: 18.5))) == nil, "a gap of half a second")
    #expect(shares.add(.of(.sample(number: 3, entered: 22.5), session: 2)) == nil)
    #expect(shares.add(.of(.sample(number: 5, entered: 26.5), session: 2)) == nil, "a fence is missing")
  }

  @Test("when a way leads from coverage into no coverage, then it counts for the fence in which it begins")
  func border() throws {
    let shares = shares([
      .of(.sample(number: 0, entered: 10, technology: "4G/LTE")),
      .of(.sample(number: 1, entered: 14, latitude: 48.2092, answered: 0)),
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
      ReportedFence.of(.sample(number: number, entered: 10 + Double(number) * 4, pings: .max, answered: .max))
    }
    let total = shares(fences).total
    #expect(total.pings == .max && total.answered == .max && total.fences == 3)
  }
}
