import Positioning
import Testing

@Suite struct AccuracyTests {
  private func accuracy(
    eph: Double? = nil, epx: Double? = nil, epy: Double? = nil, hdop: Double? = nil
  ) -> HorizontalAccuracy {
    HorizontalAccuracy(eph: eph, epx: epx, epy: epy, hdop: hdop)
  }

  @Test func whenEphIsThere_thenItIsConvertedFrom95To68Percent() {
    let accuracy = accuracy(eph: 16.2, epx: 1, epy: 1, hdop: 1)
    #expect(accuracy.source == .eph)
    #expect(abs((accuracy.metres ?? 0) - 10) < 1e-9)
  }

  @Test func whenOnlyTheAxesAreThere_thenTheyAreJoinedAndConverted() {
    let accuracy = accuracy(epx: 3 * 1.62, epy: 4 * 1.62, hdop: 1)
    #expect(accuracy.source == .epxEpy)
    #expect(abs((accuracy.metres ?? 0) - 5) < 1e-9)
  }

  @Test func whenOneAxisIsMissing_thenTheDilutionIsTaken() {
    #expect(accuracy(epx: 3, hdop: 1.2) == accuracy(hdop: 1.2))
    #expect(accuracy(hdop: 1.2).metres == 6)
    #expect(accuracy(hdop: 1.2).source == .hdop)
  }

  @Test(arguments: [0, -1, Double.nan, .infinity])
  func whenAnEstimateIsImpossible_thenItCountsAsAbsent(value: Double) {
    #expect(accuracy(eph: value, epx: value, epy: 2, hdop: value) == accuracy())
    #expect(accuracy().metres == nil)
    #expect(accuracy().source == .none)
  }
}
