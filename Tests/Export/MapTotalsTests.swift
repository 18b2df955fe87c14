import Coverage
import TestSupport
import Testing

@testable import Export

/// The figures in the head of the map page.
struct MapTotalsTests {
  private func html(_ fences: [Fence]) -> String { fences.reduce(into: MapTotals()) { $0.add($1) }.html }

  @Test("when there is no fence, then there is no figure")
  func empty() {
    #expect(html([]) == "<dt>pings</dt><dd>0</dd><dt>mean delay</dt><dd>–</dd><dt>loss</dt><dd>–</dd>")
  }

  @Test("when there is one ping, then the word is singular")
  func singular() {
    #expect(
      html([.sample(pings: 1, answered: 1, rttSumNanoseconds: 25_000_000)])
        == "<dt>ping</dt><dd>1</dd><dt>mean delay</dt><dd>25.0 ms</dd><dt>loss</dt><dd>0.0 %</dd>")
  }

  @Test("when no ping was answered, then the loss is whole and there is no delay")
  func unanswered() {
    #expect(
      html([.sample(pings: 3, answered: 0, rttSumNanoseconds: 0)])
        == "<dt>pings</dt><dd>3</dd><dt>mean delay</dt><dd>–</dd><dt>loss</dt><dd>100.0 %</dd>")
  }

  @Test("when fences differ in pings, then each ping weighs the same in the mean, whatever its fence")
  func weights() {
    let fences = [
      Fence.sample(pings: 1, answered: 1, rttSumNanoseconds: 100_000_000),
      .sample(pings: 9, answered: 9, rttSumNanoseconds: 9 * 10_000_000),
    ]
    #expect(html(fences).contains("<dd>19.0 ms</dd>"))
    #expect(html(fences) == html(fences.reversed()))
  }

  @Test("when a damaged store has counts at the end of their range, then the sums stay there")
  func saturation() {
    let fence = Fence.sample(pings: .max, answered: .max, rttSumNanoseconds: .max)
    #expect(html([fence, fence]).hasPrefix("<dt>pings</dt><dd>\(Int.max)</dd>"))
  }

  @Test("when fences have several radii, then the largest one decides about the margin of the map")
  func radius() {
    let totals = [20.0, 90, 35].reduce(into: MapTotals()) { $0.add(.sample(radius: $1)) }
    #expect(totals.radius == 90 && totals.fences == 3)
  }
}
