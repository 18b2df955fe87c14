import Coverage
import Testing

@testable import Export

/// The bands of channels.
struct RadioBandsTests {
  private func name(_ kind: RadioCell.Kind?, _ channel: Int64?) -> String? {
    var cell = RadioCell()
    (cell.kind, cell.channel) = (kind, channel)
    return RadioBands.name(of: cell)
  }

  @Test(
    "when a channel lies in bands, then all of them are named",
    arguments: [
      (RadioCell.Kind.lte, Int64(0), "B1"), (.lte, 1300, "B3"), (.lte, 3350, "B7"), (.lte, 6300, "B20"),
      (.lte, 9300, "B28"), (.lte, 39_150, "B40"), (.lte, 66_486, "B66"), (.lte, 70_545, "B85"),
      (.nr, 156_000, "n28"), (.nr, 159_000, "n20/n28"), (.nr, 368_500, "n3"), (.nr, 431_000, "n1/n65/n66"),
      (.nr, 632_448, "n77/n78"), (.nr, 660_000, "n77"), (.nr, 2_079_166, "n257/n261"),
    ])
  func named(_ kind: RadioCell.Kind, _ channel: Int64, _ band: String) {
    #expect(name(kind, channel) == band)
  }

  @Test("when a channel is in no band, or means other bands elsewhere, then none is named")
  func unnamed() {
    #expect(name(.lte, 4980) == nil && name(.lte, 70_700) == nil && name(.nr, 600_000) == nil)
    #expect(name(.lte, -1) == nil && name(.nr, .max) == nil)
    #expect(name(.gsm, 62) == nil && name(.umts, 10_562) == nil && name(nil, 1300) == nil && name(.lte, nil) == nil)
  }

  @Test("when LTE's bands are compared, then no channel is in two")
  func apart() {
    for (band, next) in zip(RadioBands.lte, RadioBands.lte.dropFirst()) {
      #expect(band.channels.upperBound < next.channels.lowerBound, "B\(band.number), B\(next.number)")
    }
  }
}
