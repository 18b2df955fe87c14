import Testing

@testable import Export

@Suite struct FindingTests {
  private func verdict(_ effect: Double, _ lower: Double, _ upper: Double, p: Double, least: Double = 5) -> Verdict {
    let difference = Difference(effect: effect, lower: lower, upper: upper, probability: p, effective: 50)
    return Finding.all([(.delay, difference, least)])[0].verdict
  }

  @Test("when a difference is significant and large, then it is different; otherwise its interval decides")
  func verdicts() {
    #expect(verdict(6, 4, 8, p: 0.001) == .different && verdict(-6, -8, -4, p: 0.001) == .different)
    #expect(verdict(3, 1, 7, p: 0.01) == .notShown, "it is not shown that it matters, nor that it does not")
    #expect(verdict(3, 2, 4, p: 0.001) == .tooSmall && verdict(0.1, -1, 1.2, p: 0.8) == .tooSmall)
    #expect(verdict(6, -1, 13, p: 0.09) == .notShown)
    #expect(verdict(0.2, 0.1, 0.3, p: 0.001, least: 0) == .different)
    #expect(verdict(0.2, -0.1, 0.5, p: 0.2, least: 0) == .notShown)
    #expect(Finding.all([(.loss, nil, 1)])[0].verdict == .notEnough)
  }

  @Test("when several figures are tested, then probabilities have Holm's correction, in their order")
  func holm() {
    let corrected = Holm.corrected([0.01, nil, 0.04, 0.03, 0.005])
    for (found, wanted) in zip(corrected, [0.03, nil, 0.06, 0.06, 0.02]) {
      #expect((found == nil) == (wanted == nil) && abs((found ?? 0) - (wanted ?? 0)) < 1e-12)
    }
    #expect(Holm.corrected([0.7, 0.9]) == [1, 1] && Holm.corrected([nil]) == [nil] && Holm.corrected([]).isEmpty)
  }

  @Test("when one of two tests is significant by itself only, then the report does not call it different")
  func together() {
    let difference = Difference(effect: 9, lower: 1, upper: 17, probability: 0.03, effective: 50)
    #expect(Finding.all([(.delay, difference, 5)])[0].verdict == .different)
    #expect(Finding.all([(.delay, difference, 5), (.ping, difference, 5)]).allSatisfy { $0.verdict == .notShown })
  }

  @Test("when two shares are compared, then a difference that their errors explain has a great probability")
  func shares() throws {
    var series = CorrelatedSeries(length: 3, seed: 11)
    func share(_ true: Double) throws -> (estimate: Estimate, deviations: CorrelatedMean) {
      let states = series.states(4000, share: `true`)
      let found = Double(states.count { $0 }) / 4000
      let mean = try #require(CorrelatedMean(SerialBlocks(states.map { ($0 ? 1 : 0) - found })))
      return (try #require(Estimate.share(found, mean)), mean)
    }
    let (one, alike, other) = (try share(0.9), try share(0.9), try share(0.5))
    #expect(try #require(Difference(one, alike)).probability > 0.05)
    let found = try #require(Difference(one, other))
    #expect(found.probability < 1e-6 && found.upper < -0.2 && found.lower < found.effect)
    #expect(Difference(nil, one) == nil && Difference(one, nil) == nil)
  }
}
