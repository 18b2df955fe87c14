import Foundation
import Testing

@testable import Export

@Suite struct CorrelatedMeanTests {
  private func mean(_ values: [Double]) throws -> CorrelatedMean {
    let centre = values.reduce(0, +) / Double(values.count)
    return try #require(CorrelatedMean(SerialBlocks(values.map { $0 - centre })))
  }

  @Test("when values are independent, then about as many count as there are; the standard error is the usual one")
  func independent() throws {
    let found = try (1...30 as ClosedRange<UInt64>).map { seed -> CorrelatedMean in
      var series = CorrelatedSeries(length: 0, seed: seed)
      return try mean(series.values(4000))
    }
    #expect(found.allSatisfy { $0.count == 4000 && $0.isEnough && $0.freedom >= 16 })
    let square = found.reduce(0.0) { $0 + $1.standardError * $1.standardError } / 30
    #expect(abs(square * 4000 - 1) < 0.2)
  }

  @Test("when values are alike for some time, then one counts for about twice that time")
  func correlated() throws {
    let found = try (1...30 as ClosedRange<UInt64>).map { seed -> CorrelatedMean in
      var series = CorrelatedSeries(length: 50, seed: seed)
      return try mean(series.values(10_000))
    }
    let square = found.reduce(0.0) { $0 + $1.standardError * $1.standardError } / 30
    #expect(abs(square * 100 - 1) < 0.3)
    #expect(found.allSatisfy { (30...300).contains($0.independent) && (8...24).contains($0.freedom) })
  }

  @Test("when the correlation is as long as the series, then there are not enough values")
  func tooLong() throws {
    #expect(try !mean((0..<1000).map(Double.init)).isEnough)
    #expect(try !mean((0..<1000).map { $0 < 500 ? 0 : 1 }).isEnough)
  }

  @Test("when values are few or equal, then there is no error; one outlier is one event")
  func none() throws {
    #expect(CorrelatedMean(SerialBlocks(Array(repeating: 0, count: 1000))) == nil)
    #expect(CorrelatedMean(SerialBlocks((0..<19).map { $0.isMultiple(of: 2) ? 1 : -1 })) == nil)
    #expect(CorrelatedMean(SerialBlocks([])) == nil)
    let outlier = try mean((0..<2000).map { $0 == 700 ? 1000 : 0 })
    #expect(outlier.events < 1.5)
  }

  @Test("when values are scaled, then the error is scaled, and nothing else changes")
  func scaling() throws {
    var series = CorrelatedSeries(length: 5, seed: 9)
    let values = series.values(777)
    let (one, other) = (try mean(values), try mean(values.map { $0 * 1024 }))
    #expect(abs(other.standardError / one.standardError - 1024) < 1e-9)
    #expect(abs(one.effective - other.effective) < 1e-6 && one.freedom == other.freedom)
  }

  @Test(
    "when values are in blocks, then each is in one, and blocks differ by one value at most",
    arguments: [1, 20, 255, 256, 257, 1000, 4095])
  func blocks(count: Int) {
    let blocks = SerialBlocks(Array(repeating: 1, count: count))
    #expect(blocks.sums.count == min(count, 256) && blocks.squares == Double(count))
    #expect(blocks.sums.reduce(0, +) == Double(count))
    #expect((blocks.sums.max() ?? 0) - (blocks.sums.min() ?? 0) <= 1)
  }
}
