import Coverage
import TestSupport
import Testing

@testable import Report

/// Outages, and the gaps between fences, against runs that are computed independently.
@Suite struct OutageTests {
  private func isSilent(_ fence: ReportedFence) -> Bool { fence.fence.pings > 0 && fence.fence.pingsAnswered <= 0 }

  /// Runs of neighbours, without gaps.
  private func runs(_ fences: [ReportedFence]) -> [[ReportedFence]] {
    fences.reduce(into: []) { runs, fence in
      if let last = runs.last?.last, last.continues(in: fence) {
        runs[runs.count - 1].append(fence)
      } else {
        runs.append([fence])
      }
    }
  }

  @Test("when a drive has outages of all lengths, then number, time and the longest are those of its silent runs")
  func model() {
    for seed in 0..<60 as Range<UInt64> {
      var road = RandomRoad(random: SeededGenerator(seed: seed))
      let fences = road.fences(150)
      var outages = Outages()
      for fence in fences { outages.add(fence) }
      let silent = runs(fences).flatMap { run in
        run.split { !isSilent($0) }.map(Array.init)
      }
      #expect(outages.count == silent.count, "seed \(seed)")
      let times = silent.map { $0.map(\.microseconds).reduce(0, +) }
      #expect(outages.microseconds == times.reduce(0, +))
      guard let longest = times.max(), let first = times.firstIndex(of: longest) else {
        #expect(outages.longest == nil)
        continue
      }
      #expect(outages.longest?.microseconds == longest)
      #expect(outages.longest?.place == silent[first][0].fence.centre, "of equal outages the first; seed \(seed)")
      #expect(outages.longest?.pings == silent[first].map(\.fence.pings).reduce(0, +))
    }
  }

  @Test("when no ping was sent in a fence, then the fence ends an outage and is no outage")
  func notMeasured() {
    var outages = Outages()
    for (number, pings) in [10, 0, 10].enumerated() {
      outages.add(.of(.sample(number: number, entered: 10 + Double(number) * 4, pings: pings, answered: 0)))
    }
    #expect(outages.count == 2 && outages.microseconds == 8_000_000)
  }

  @Test("when an outage continues in another session, then it is another outage")
  func sessions() {
    var outages = Outages()
    outages.add(.of(.sample(number: 0, entered: 10, answered: 0)))
    outages.add(.of(.sample(number: 1, entered: 14, answered: 0), session: 2))
    #expect(outages.count == 2)
  }

  @Test("when fences have gaps, then their number, sum and longest are those of neighbours in one session")
  func gaps() {
    for seed in 100..<140 as Range<UInt64> {
      var road = RandomRoad(random: SeededGenerator(seed: seed))
      let fences = road.fences(150)
      var quality = Quality()
      for fence in fences { quality.add(fence) }
      let gaps = zip(fences, fences.dropFirst())
        .filter { $0.session == $1.session && $0.fence.number + 1 == $1.fence.number }
        .map { ($1.fence.entered - $0.exited).inMicroseconds }.filter { $0 > 0 }
      #expect(quality.gaps == gaps.count)
      #expect(quality.gapMicroseconds == gaps.reduce(0, +))
      #expect(quality.longestGap == gaps.max() ?? 0)
    }
  }

  @Test("when a fence between two others is not selected, then its time is no gap")
  func notSelected() {
    var quality = Quality()
    for number in [0, 1, 3] { quality.add(.of(.sample(number: number, entered: 10 + Double(number) * 5, lasted: 4))) }
    #expect(quality.gaps == 1 && quality.gapMicroseconds == 1_000_000)
  }

  @Test("when fences overlap, as after a clock step, then there is no gap")
  func overlap() {
    var quality = Quality()
    quality.add(.of(.sample(number: 0, entered: 10, lasted: 4)))
    quality.add(.of(.sample(number: 1, entered: 12, lasted: 4)))
    #expect(quality.gaps == 0 && quality.gapMicroseconds == 0)
  }

  @Test("when fixes have accuracies, then the percentiles are those of the opening positions, in millimetres")
  func accuracies() throws {
    var quality = Quality()
    let place = try #require(Coordinate(latitude: 48, longitude: 16))
    for metres in [1.234, 2, 3, 4, 14.9995, .infinity, .nan] {
      quality.add(.of(.sample(fix: Fix(coordinate: place, accuracy: metres))))
    }
    quality.add(.of(.sample(fix: Fix(coordinate: place, accuracy: nil))))
    #expect(quality.accuracies.microseconds(atRanks: [1, 2, 5, 6]) == [1234, 2000, 15_000, nil])
  }
}
