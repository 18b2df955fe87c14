import Coverage
import Store
import TestSupport
import Testing

@testable import Export

/// The worst stretches, against a list of all stretches that is sorted afterwards.
@Suite struct WorstStretchTests {
  /// The stretches of a road, each as its fences.
  private func stretches(_ fences: [StoredFence]) -> [[StoredFence]] {
    var (cut, metres): ([[StoredFence]], Double) = ([], 0)
    for fence in fences {
      guard let step = cut.last?.last?.fence.distance(to: fence.fence), abs(metres + step - 500) < abs(metres - 500),
        cut[cut.count - 1].count < 200
      else {
        cut.append([fence])
        metres = 0
        continue
      }
      metres += step
      cut[cut.count - 1].append(fence)
    }
    return cut
  }

  private func isLong(_ stretch: [StoredFence]) -> Bool {
    let metres = zip(stretch, stretch.dropFirst()).compactMap { $0.fence.distance(to: $1.fence) }.reduce(0, +)
    return (375...625).contains(metres)
  }

  private func score(_ stretch: [StoredFence]) -> Double? {
    let pings = stretch.map(\.fence.pings).reduce(0, +)
    let answered = stretch.map(\.fence.pingsAnswered).reduce(0, +)
    let nanoseconds = stretch.map(\.fence.rttSumNanoseconds).reduce(0, +)
    return pings > 0 ? (Double(nanoseconds) + Double(pings - answered) * 1e9) / Double(pings) : nil
  }

  @Test(
    "when a road is cut into stretches, then the three with the highest scores are kept, the earlier of equal ones first"
  )
  func worst() {
    for seed in 0..<60 as Range<UInt64> {
      var road = RandomRoad(random: SeededGenerator(seed: seed))
      let fences = road.fences(160)
      var figures = ReportFigures()
      for fence in fences { figures.add(fence) }
      figures.endFences()
      let expected = stretches(fences).enumerated().compactMap { index, stretch in
        score(stretch).map {
          (index: index, long: isLong(stretch) ? 1 : 0, score: $0, first: stretch[0].fence.number, count: stretch.count)
        }
      }.sorted { ($1.long, $1.score, $0.index) < ($0.long, $0.score, $1.index) }.prefix(3)
      #expect(figures.stretches.worst.map(\.score) == expected.map(\.score), "seed \(seed)")
      #expect(figures.stretches.worst.map { $0.fences[0].number } == expected.map(\.first))
      #expect(figures.stretches.worst.map(\.fences.count) == expected.map(\.count))
    }
  }

  @Test("when fences have no pings, then their stretch is never one of the worst")
  func unmeasured() {
    var figures = ReportFigures()
    for number in 0..<5 {
      figures.add(.of(.sample(number: number, entered: 10 + Double(number) * 4, pings: 0, answered: 0)))
    }
    figures.endFences()
    #expect(figures.stretches.worst.isEmpty)
  }
}
