import Coverage
import Testing

@testable import SystemServices

/// The answers to `GetCellInfo`.
struct CellListTests {
  private func list(_ cells: [[String: any Sendable]], in kind: RadioCell.Kind? = nil) -> CellList {
    CellList(.list(cells.map { .dictionary($0.mapValues(BusValue.of)) }), in: kind)
  }

  @Test("when two cells serve, then LTE's is the anchor of 5G non-standalone, and 5G's is among the others")
  func anchor() {
    let cells = list([
      ["cell-type": 6, "serving": true, "nrarfcn": 632_628, "physical-ci": "1F"],
      ["cell-type": 5, "serving": true, "earfcn": 1300, "ci": "01020304", "operator-id": "23201"],
      ["cell-type": 5, "serving": false, "earfcn": 3350],
    ])
    #expect(cells.serving?.cell.channel == 1300)
    #expect(cells.serving?.cell.countryCode == "232")
    #expect(cells.neighbours.map(\.cell.channel) == [3350])
    #expect(cells.secondaries.map(\.cell.channel) == [632_628])
    #expect(cells.secondaries.first?.cell.physical == 0x1F)
  }

  @Test("when cells have levels and a timing advance, then those of each kind are read, and signs for unknown are not")
  func levels() {
    let unknown = -Double.greatestFiniteMagnitude
    let cells = list([
      ["cell-type": 5, "serving": true, "earfcn": 1300, "rsrp": -91.5, "rsrq": -10.0, "timing-advance": 7],
      ["cell-type": 6, "serving": true, "nrarfcn": 632_628, "rsrp": -95.0, "rsrq": unknown, "sinr": 12.5],
      ["cell-type": 5, "earfcn": 1300, "rsrp": -101.0, "rsrq": unknown, "timing-advance": 9],
      ["cell-type": 3, "uarfcn": 10_700, "rscp": -80.0, "ecio": -7.5, "rsrp": -1.0],
      ["cell-type": 2, "arfcn": 10, "rx-level": 20],
    ])
    #expect(cells.timingAdvance == 7)
    #expect(cells.serving?.levels == [.rsrp: -91.5, .rsrq: -10])
    #expect(cells.secondaries.map(\.levels) == [[.nrRSRP: -95, .nrSINR: 12.5]])
    #expect(cells.neighbours.map(\.levels) == [[.rsrp: -101], [.rscp: -80, .ecio: -7.5], [:]])
    let none = list([["cell-type": 5, "serving": true, "earfcn": 1300, "timing-advance": 4_294_967_295]])
    #expect(none.timingAdvance == nil && none.serving?.levels.isEmpty == true)
  }

  @Test("when the modem aggregates carriers, then the primary cell serves, and the others are secondary")
  func carriers() {
    let cells = list([
      ["cell-type": 5, "serving": true, "serving-cell-type": 2, "earfcn": 3350],
      ["cell-type": 5, "serving": true, "serving-cell-type": 1, "earfcn": 1300],
      ["cell-type": 6, "serving": true, "serving-cell-type": 3, "nrarfcn": 632_628],
    ])
    #expect(cells.serving?.cell.channel == 1300)
    #expect(cells.secondaries.map(\.cell.channel) == [3350, 632_628])
  }

  @Test("when only 5G's cell is listed as serving while the network is LTE, then it is secondary")
  func nonStandalone() {
    let cells = list(
      [["cell-type": 6, "serving": true, "nrarfcn": 632_628, "rsrp": -95.0, "timing-advance": 3]], in: .lte)
    #expect(cells.serving == nil && cells.timingAdvance == nil)
    #expect(cells.secondaries.map(\.cell.channel) == [632_628] && cells.secondaries.map(\.levels) == [[.nrRSRP: -95]])
  }

  @Test("when 5G serves alone, then its cell is the serving one")
  func standalone() {
    let cells = list([["cell-type": 6, "serving": true, "ci": "1020304FF", "tac": "00A1B2", "nrarfcn": 632_628]])
    #expect(cells.serving?.cell.identity == 0x1_0203_04FF)
    #expect(cells.serving?.cell.area == 0xA1B2)
  }

  @Test("when UMTS serves, then location area and scrambling code are its area and physical identity")
  func umts() {
    let cells = list([["cell-type": 3, "serving": true, "lac": "1A2B", "ci": "0102", "uarfcn": 10_700, "psc": 42]])
    #expect(cells.serving?.cell.area == 0x1A2B)
    #expect(cells.serving?.cell.physical == 42)
  }

  @Test(
    "when the width of the channel is in Hz or in kHz, then it is read in kHz; other numbers are ignored",
    arguments: [
      (20_000_000, 20_000), (20_000, 20_000), (1_400_000, 1400), (1400, 1400), (400_000_000, 400_000), (100, nil),
      (1_000_000, nil), (4_294_967_295, nil), (-1, nil),
    ] as [(Int, Int64?)])
  func bandwidth(width: Int, kilohertz: Int64?) {
    #expect(list([["serving": true, "earfcn": 1, "bandwidth": width]]).serving?.cell.bandwidth == kilohertz)
  }

  @Test("when neighbours have codes that are reserved or too wide for their kind, then those are absent")
  func reserved() {
    let cells = list([
      ["serving": true, "cell-type": 5, "tac": "FFFFFE", "ci": "FFFFFFFF", "earfcn": 1300],
      ["cell-type": 5, "tac": "1A2B", "ci": "10000000", "physical-ci": "1F8", "earfcn": 262_144],
      ["cell-type": 6, "tac": "FFFFFF", "ci": "1000000000", "physical-ci": "3F0", "nrarfcn": 632_628],
      ["cell-type": 3, "lac": "FFFE", "ci": "FFFFFFF", "psc": 512], ["cell-type": 2, "lac": "0", "ci": "FFFF"],
    ])
    #expect(cells.serving?.cell.area == nil && cells.serving?.cell.identity == nil)
    #expect(cells.serving?.cell.channel == 1300)
    #expect(cells.neighbours.map(\.cell.area) == [0x1A2B, nil], "cells of which nothing is known are dropped")
    #expect(cells.neighbours.allSatisfy { $0.cell.identity == nil && $0.cell.physical == nil })
    #expect(cells.neighbours.map(\.cell.kind) == [.lte, .nr])
  }

  @Test("when values are unusable, then they are left out, and a cell without values is dropped")
  func useless() {
    let cells = list([
      ["serving": true, "ci": "xyz", "tac": "-1A", "operator-id": "23", "earfcn": 4_294_967_295, "physical-ci": 7],
      ["serving": false], [:],
    ])
    #expect(cells.serving == nil)
    #expect(cells.neighbours.isEmpty)
    #expect(CellList(.string("no list")).neighbours.isEmpty)
  }
}
