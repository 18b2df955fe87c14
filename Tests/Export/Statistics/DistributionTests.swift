import Testing

@testable import Export

/// The distributions, against scipy's values.
@Suite struct DistributionTests {
  @Test(
    "when Student's t has some degrees of freedom, then quantile and probability are scipy's",
    arguments: [
      (1, 12.706204736174694, 0.26109517417724554), (4, 2.7764451051977934, 0.08293903711238236),
      (7.5, 2.333039626864974, 0.052572896104369084), (24, 2.0638985616280245, 0.030449585389608923),
    ])
  func student(freedom: Double, quantile: Double, probability: Double) {
    #expect(abs(StudentT.quantile(freedom: freedom) - quantile) < 1e-9 * quantile)
    #expect(abs(StudentT.probability(2.3, freedom: freedom) - probability) < 1e-12)
    #expect(StudentT.probability(-2.3, freedom: freedom) == StudentT.probability(2.3, freedom: freedom))
    #expect(StudentT.probability(0, freedom: freedom) == 1)
  }

  @Test(
    "when the incomplete beta function is evaluated, then it is scipy's, also for millions of samples",
    arguments: [
      (0.3, 0.5, 0.5, 0.36901011956554536), (0.02, 10.5, 400.5, 0.25168894941910663),
      (0.95, 950.5, 50.5, 0.5087033900983398), (0.501, 2e6, 2e6, 0.9999683292600275),
      (0.001, 1.5, 3000, 0.8885600390780981), (0, 2, 3, 0), (1, 2, 3, 1),
    ])
  func beta(x: Double, a: Double, b: Double, probability: Double) {
    #expect(abs(BetaDistribution.probability(x, a, b) - probability) < 1e-8)
  }

  @Test(
    "when a quantile of the beta distribution is wanted, then it is scipy's",
    arguments: [
      (0.025, 20.5, 980.5, 0.012651044331125894), (0.975, 20.5, 980.5, 0.030116907116943526),
      (0.975, 3.5, 0.6, 0.9994639521395783),
    ])
  func quantile(probability: Double, a: Double, b: Double, x: Double) {
    #expect(abs(BetaDistribution.quantile(probability, a, b) - x) < 1e-10)
  }
}
