import Testing

@testable import Coverage

/// The values that a cell can have (3GPP TS 23.003).
struct RadioCellTests {
  private func cell(_ kind: RadioCell.Kind?, area: Int64? = nil, identity: Int64? = nil) -> RadioCell {
    var cell = RadioCell()
    (cell.kind, cell.area, cell.identity) = (kind, area, identity)
    return cell.checked(as: nil)
  }

  @Test(
    "when an area code is reserved or too wide for its kind, then it is absent",
    arguments: [
      (.gsm, [1, 0xFFFD], [0, -1, 0xFFFE, 0xFFFF, 0x1_0000]), (.umts, [1, 0xFFFD], [0, 0xFFFE, 0xFFFF, 0x1_0000]),
      (.lte, [1, 0xFFFD], [0, 0xFFFE, 0xFFFF, 0xFF_FFFE, 0xFF_FFFF]),
      (.nr, [1, 0xFFFE, 0xFF_FFFD], [0, 0xFF_FFFE, 0xFF_FFFF, 0x100_0000, .max]),
      (nil, [1, 0xFF_FFFD], [0, 0xFFFE, 0xFFFF, 0xFF_FFFE, 0xFF_FFFF, 0x100_0000]),
    ] as [(RadioCell.Kind?, [Int64], [Int64])])
  func areas(kind: RadioCell.Kind?, possible: [Int64], others: [Int64]) {
    for area in possible { #expect(cell(kind, area: area).area == area) }
    for area in others { #expect(cell(kind, area: area).area == nil) }
  }

  @Test(
    "when an identity is too wide for its kind or has all bits set, then it is absent",
    arguments: [
      (.gsm, [1, 0xFFFE], [0, 0xFFFF, 0x1_0000]), (.umts, [1, 0xFFF_FFFE], [0, 0xFFF_FFFF, 0x1000_0000]),
      (.lte, [1, 0xFFF_FFFE], [0, -1, 0xFFF_FFFF, 0x1000_0000, 0xFFFF_FFFF]),
      (.nr, [1, 0x1000_0000, 0xF_FFFF_FFFE], [0, 0xFFFF_FFFF, 0xF_FFFF_FFFF, 0x10_0000_0000, .max]),
      (nil, [1, 0xFFFF, 0xF_FFFF_FFFE], [0, 0xFFF_FFFF, 0xFFFF_FFFF, 0xF_FFFF_FFFF, 0x10_0000_0000]),
    ] as [(RadioCell.Kind?, [Int64], [Int64])])
  func identities(kind: RadioCell.Kind?, possible: [Int64], others: [Int64]) {
    for identity in possible { #expect(cell(kind, identity: identity).identity == identity) }
    for identity in others { #expect(cell(kind, identity: identity).identity == nil) }
  }

  @Test(
    "when the technology is known, then it gives the serving cell its kind, in 5G non-standalone that of the anchor")
  func kinds() {
    func kind(_ name: String) -> RadioCell.Kind? {
      var modem = ModemReading()
      modem.cell = cell(nil, area: 1)
      return RadioReading(technology: Technology(name), modem: modem).checked.modem?.cell?.kind
    }
    #expect(["2G/EDGE", "3G/HSPA+", "4G/LTE CA", "5G/NRNSA", "5G/NR"].map(kind) == [.gsm, .umts, .lte, .lte, .nr])
    #expect(kind("2G/EVDO_A") == nil)
  }

  @Test("when nothing of a cell is possible, then there is no cell")
  func unknown() {
    var modem = ModemReading()
    modem.cell = RadioCell()
    modem.cell?.identity = 0xFFFF_FFFF
    modem.neighbours = [MeasuredCell(modem.cell ?? RadioCell())]
    let checked = RadioReading(technology: Technology("4G/LTE"), modem: modem).checked.modem
    #expect(checked?.cell == nil && checked?.neighbours.isEmpty == true)
  }

  @Test("when a modem lists many cells, then as many count as a drive log's reader takes, with its resolution")
  func lists() {
    var (modem, cell) = (ModemReading(), RadioCell())
    for number in 0..<40 {
      cell.physical = Int64(number)
      modem.neighbours.append(MeasuredCell(cell, levels: [.rsrp: -90.26, .rsrq: -32_768]))
    }
    let checked = RadioReading(technology: Technology("4G/LTE"), modem: modem).checked.modem
    #expect(checked?.neighbours.count == 32 && checked?.neighbours.last?.cell.physical == 31)
    #expect(checked?.neighbours.first?.levels == [.rsrp: -90.3])
  }

  @Test(
    "when a cell serves beside one of another kind, then its levels are the modem's; those of a further carrier are not"
  )
  func levelsBeside() {
    func cell(_ channel: Int64, _ kind: RadioCell.Kind?, _ levels: [SignalQuantity: Double]) -> MeasuredCell {
      var cell = RadioCell()
      (cell.channel, cell.kind) = (channel, kind)
      return MeasuredCell(cell, levels: levels)
    }
    var modem = ModemReading()
    (modem.cell, modem.signal) = (cell(1300, nil, [:]).cell, [.rsrp: -91])
    modem.secondaries = [
      cell(3350, .lte, [.rsrp: -80, .rsrq: -7]), cell(632_628, nil, [.nrRSRP: -95]),
      cell(640_000, .nr, [.nrRSRP: -90, .nrSINR: 3]),
    ]
    modem.neighbours = [cell(1300, nil, [.rsrp: -101])]
    let checked = RadioReading(technology: Technology("5G/NRNSA"), modem: modem).checked.modem
    #expect(checked?.signal == [.rsrp: -91, .nrRSRP: -95])
    #expect(checked?.secondaries.map(\.cell.kind) == [.lte, .nr, .nr])
    #expect(checked?.neighbours.map(\.cell.kind) == [.lte])
  }

  @Test(
    "when a timing advance does not fit the bits of the technology, then it is absent",
    arguments: [
      ("2G/EDGE", 63), ("3G/UMTS", -1), ("4G/LTE", 1282), ("5G/NRNSA", 1282), ("5G/NR", 3846), ("2G/EVDO_A", 3846),
    ] as [(String, Int64)])
  func timingAdvance(name: String, greatest: Int64) {
    func checked(_ advance: Int64) -> Int64? {
      var modem = ModemReading()
      modem.timingAdvance = advance
      return RadioReading(technology: Technology(name), modem: modem).checked.modem?.timingAdvance
    }
    #expect(checked(greatest) == (greatest < 0 ? nil : greatest))
    for impossible in [greatest + 1, -1, .max, .min] { #expect(checked(impossible) == nil) }
  }
}
