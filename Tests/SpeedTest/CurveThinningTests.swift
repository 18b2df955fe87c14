import Coverage
import TestSupport
import Testing

@testable import SpeedTest

@Suite struct CurveThinningTests {
  private func curve(_ count: Int, step: Int64, _ random: inout SeededGenerator) -> [Sample] {
    var (time, bytes): (Int64, Int64) = (0, 0)
    return (0..<count).map { _ in
      time += Int64.random(in: 1...step, using: &random)
      bytes += Int64.random(in: 0...1_000_000, using: &random)
      return Sample(nanoseconds: time, bytes: bytes)
    }
  }

  @Test("when curves are thinned out, then the remaining points give the same result, to the byte", arguments: 0..<50)
  func result(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let curves = (0..<3).map { _ in curve(.random(in: 1...2000, using: &random), step: 5_000_000, &random) }
    let whole = try #require(Throughput(threads: curves))
    let thinned = curves.map { CurveThinning.thinned($0, around: whole.nanoseconds) }
    #expect(Throughput(threads: thinned) == whole)
    for (thin, all) in zip(thinned, curves) {
      #expect(thin.first == all.first && thin.last == all.last && thin.allSatisfy(all.contains))
    }
  }

  @Test("when a phase has a point each millisecond, then about one each 50 ms stays")
  func size() {
    let all = (1...7000).map { Sample(nanoseconds: Int64($0) * 1_000_000, bytes: Int64($0)) }
    #expect((140...145).contains(CurveThinning.thinned(all, around: 7_000_000_000).count))
    #expect(CurveThinning.thinned([], around: 5).isEmpty)
  }

  @Test("when a test has ended, then its figures have the result, the server and the traffic of the outcome")
  func figures() throws {
    var outcome = SpeedTestOutcome()
    outcome.serverVersion = "1.3.5"
    outcome.downloadCurves = [[Sample(nanoseconds: 7_000_000_000, bytes: 119_000_000)]]
    outcome.downloadBegan = 4
    outcome.traffic = SpeedTestTraffic(received: 5, sent: 6)
    outcome.pings.append(.init(client: 3, server: 2, offset: 1))
    var plan = SpeedTestPlan(host: "h", port: 5, token: try MeasurementToken("t"))
    plan.opening = .native
    let figures = outcome.figures(plan)
    #expect(figures.download?.kilobitsPerSecond == 136_000 && figures.download?.began == 4)
    #expect(figures.upload == nil && !figures.isComplete && figures.kind == "RMBT" && figures.server == "h")
    #expect(figures.traffic.total == 11 && figures.pings == [SpeedTestPing(client: 3, server: 2, offset: 1)])
  }
}
