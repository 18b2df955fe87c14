import TestSupport
import Testing

@testable import Coverage

/// The modem's report of each fence, weighted by time.
struct FenceRadioTests {
  private var drive = DriveScript()

  private func reading(_ rsrp: Double, cell: Int64 = 1, _ change: (inout ModemReading) -> Void = { _ in })
    -> ModemReading
  {
    var reading = ModemReading()
    reading.signal = [.rsrp: rsrp]
    reading.cell = .sample(cell)
    change(&reading)
    return reading
  }

  private func radio(_ index: Int) throws -> FenceRadio { try #require(drive.fences[index].radio) }

  @Test("when only the technology is known, then a fence has its time on each if it changed, and no report otherwise")
  mutating func technologyOnly() throws {
    drive.radio(at: 0, "4G/LTE")
    drive.fix(at: 1)
    drive.radio(at: 2, "5G/NR")
    drive.fix(at: 9, north: 500)
    drive.stop(at: 12)
    #expect(try radio(0).technologies.map(\.microseconds) == [1_000_000, 7_000_000])
    #expect(try !radio(0).isOfModem && drive.fences[0].mainTechnology == Technology("5G/NR"))
    #expect(drive.fences[1].radio == nil)
  }

  @Test("when technologies change, then each has its share of the fence's time, in order, as has no service")
  mutating func shares() throws {
    drive.radio(at: 0, "4G/LTE")
    drive.modem(at: 0, reading(-90))
    drive.fix(at: 1)
    drive.radio(at: 3, "5G/NRNSA")
    drive.radio(at: 4, nil)
    drive.radio(at: 4.5, "4G/LTE")
    drive.fix(at: 11, north: 500)
    drive.stop(at: 12)
    #expect(
      try radio(0).technologies == [
        .init(technology: "4G/LTE", microseconds: 8_500_000), .init(technology: "5G/NRNSA", microseconds: 1_000_000),
        .init(technology: nil, microseconds: 500_000),
      ])
    #expect(try radio(1).technologies == [.init(technology: "4G/LTE", microseconds: 1_000_000)])
  }

  @Test("when the signal changes, then extremes ignore values of no duration, and the median is weighted by time")
  mutating func levels() throws {
    drive.modem(at: 0, reading(-50))
    drive.modem(at: 1, reading(-100))
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90))
    drive.modem(at: 3, reading(-80))
    drive.modem(at: 3, reading(-70))
    drive.stop(at: 6)
    #expect(try radio(0).levels == [.init(quantity: .rsrp, minimum: -100, median: -70, maximum: -70)])
  }

  @Test("when two values last for the same time, then the lower one is the median")
  mutating func medianOfTwo() throws {
    drive.modem(at: 1, reading(-100))
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90))
    drive.stop(at: 3)
    #expect(try radio(0).levels == [.init(quantity: .rsrp, minimum: -100, median: -100, maximum: -90)])
  }

  @Test("when a value is out of its range, then it is left out")
  mutating func impossible() throws {
    drive.modem(
      at: 0,
      reading(-32768) {
        $0.signal[.rsrq] = -10; $0.signal[.sinr] = .nan
      })
    drive.fix(at: 1)
    drive.stop(at: 2)
    #expect(try radio(0).levels.map(\.quantity) == [.rsrq])
  }

  @Test("when the cell changes, then each change counts, but details that become known later do not")
  mutating func cells() throws {
    drive.modem(at: 0, reading(-90, cell: 1) { $0.cell?.channel = nil })
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90, cell: 1))
    drive.modem(at: 3, reading(-90, cell: 2))
    drive.modem(at: 4, reading(-90) { $0.cell = nil })
    drive.modem(at: 5, reading(-90, cell: 2))
    drive.modem(at: 6, reading(-90, cell: 1))
    drive.stop(at: 7)
    #expect(try radio(0).cellChanges == 2)
    #expect(try radio(0).cell == .sample(1))
  }

  @Test("when the cell changes at the moment at which a fence begins, then the change counts in that fence")
  mutating func cellOfTheMoment() throws {
    drive.modem(at: 0, reading(-90, cell: 1))
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90, cell: 2))
    drive.fix(at: 2, north: 500)
    drive.fix(at: 3, north: 1000)
    drive.modem(at: 4, reading(-90) { $0.cell = nil })
    drive.fix(at: 4, north: 1500)
    drive.stop(at: 5)
    #expect(try [radio(0), radio(1), radio(2), radio(3)].map(\.cellChanges) == [0, 1, 0, 0])
    #expect(try radio(3).cell == nil)
  }

  @Test("when the modem roams for a while, then the fence is marked as roaming and has the last operator")
  mutating func roaming() throws {
    drive.modem(at: 0, reading(-90) { ($0.registration, $0.operatorCode) = (.home, "23201") })
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90) { ($0.registration, $0.operatorCode) = (.roaming, "26202") })
    drive.modem(at: 3, reading(-90) { ($0.registration, $0.operatorCode) = (.home, "23201") })
    drive.modem(at: 3.5, reading(-90) { $0.registration = .searching })
    drive.fix(at: 4, north: 500)
    drive.stop(at: 5)
    #expect(try radio(0).isRoaming)
    #expect(try radio(0).operatorCode == "23201")
    #expect(try !radio(1).isRoaming)
  }

  @Test("when the modem goes away, then no later time counts for its signal, and the next fence has no report")
  mutating func gone() throws {
    drive.modem(at: 0, reading(-90))
    drive.fix(at: 1)
    drive.modem(at: 2, nil)
    drive.fix(at: 9, north: 500)
    drive.stop(at: 12)
    #expect(try radio(0).levels == [.init(quantity: .rsrp, minimum: -90, median: -90, maximum: -90)])
    #expect(drive.fences[1].radio == nil)
  }

  // MARK: Environment

  private func neighbour(_ pci: Int64, _ rsrp: Double?, kind: RadioCell.Kind = .lte) -> MeasuredCell {
    var cell = RadioCell()
    (cell.kind, cell.physical, cell.channel) = (kind, pci, 1300)
    return MeasuredCell(cell, levels: rsrp.map { [kind == .nr ? .nrRSRP : .rsrp: $0] } ?? [:])
  }

  @Test(
    "when the modem lists other cells, then a fence has the most neighbours, the strongest of its kind, the last 5G cell"
  )
  mutating func environment() throws {
    drive.modem(
      at: 0,
      reading(-90) {
        $0.cell?.kind = .lte
        $0.neighbours = [neighbour(1, -101), neighbour(2, -99), neighbour(3, nil), neighbour(4, -70, kind: .nr)]
        $0.secondaries = [neighbour(5, -95, kind: .nr), neighbour(6, -93), neighbour(7, -94)]
      })
    drive.fix(at: 1)
    drive.modem(
      at: 2,
      reading(-90) {
        $0.cell?.kind = .lte
        $0.neighbours = [neighbour(8, -98.5)]
        $0.secondaries = [neighbour(9, nil, kind: .nr), neighbour(6, -93)]
      })
    drive.modem(at: 3, reading(-90))
    drive.stop(at: 4)
    let environment = try #require(try radio(0).environment)
    #expect(environment.neighbours == 4 && environment.carriers == 3)
    #expect(environment.strongest == neighbour(8, -98.5))
    #expect(environment.secondary?.physical == 9)
  }

  @Test("when the modem lists no other cells, or one carrier, then nothing is known of them")
  mutating func noEnvironment() throws {
    drive.modem(at: 0, reading(-90))
    drive.fix(at: 1)
    drive.fix(at: 3, north: 500)
    drive.modem(at: 4, reading(-90) { $0.neighbours = [neighbour(1, nil)] })
    drive.stop(at: 5)
    #expect(try radio(0).environment == nil)
    #expect(try radio(1).environment?.neighbours == 1 && radio(1).environment?.carriers == nil)
    #expect(try radio(1).environment?.strongest == nil)
  }

  @Test("when the serving cell changes, then the timing advance of the old one no longer counts")
  mutating func timingAdvance() throws {
    drive.modem(at: 0, reading(-90) { $0.timingAdvance = 7 })
    drive.fix(at: 1)
    drive.modem(at: 2, reading(-90))
    drive.fix(at: 3, north: 500)
    drive.modem(at: 4, reading(-90) { $0.timingAdvance = 8 })
    drive.modem(at: 5, reading(-90, cell: 2))
    drive.stop(at: 6)
    #expect(try radio(0).environment?.timingAdvance == 7, "the last one known in the cell")
    #expect(try radio(1).environment?.timingAdvance == nil && radio(1).cellChanges == 1)
  }

  @Test("when a fix counts from before the last report, then each report counts in the fence of its time")
  func lateFix() throws {
    let ground = Ground.vienna
    func fix(_ north: Double) -> Event.Kind { .fix(Fix(coordinate: ground.place(north: north, east: 0), accuracy: 5)) }
    func event(_ at: Double, _ kind: Event.Kind, delivered: Double? = nil) -> Event {
      Event(at: .seconds(at), kind, delivered: delivered.map { .seconds($0) })
    }
    var engine = Engine()
    for event in [
      event(0, .modem(reading(-90))), event(1, fix(0)), event(2.1, .modem(reading(-70))),
      event(2, fix(500), delivered: 2.3), event(3, .stop(.user)),
    ] { _ = engine.handle(event) }
    #expect(engine.fences.map(\.entered) == [.seconds(1), .seconds(2)], "a report does not hold back a fix")
    #expect(engine.fences[0].radio?.levels.map(\.maximum) == [-90])
    #expect(engine.fences[0].radio?.technologies.map(\.microseconds) == [1_000_000])
    #expect(engine.fences[1].radio?.levels == [.init(quantity: .rsrp, minimum: -90, median: -70, maximum: -70)])
  }

  @Test("when a fence is open for long, then its report covers all of its time, and is up to date while it is open")
  mutating func long() throws {
    drive.modem(at: 0, reading(-100))
    drive.fix(at: 1)
    for second in 2...600 { drive.modem(at: Double(second), reading(Double(-60 - second % 7))) }
    #expect(drive.engine.openFence?.radio?.technologies.map(\.microseconds) == [599_000_000])
    drive.stop(at: 601)
    #expect(try radio(0).technologies.map(\.microseconds) == [600_000_000])
    #expect(try radio(0).levels == [.init(quantity: .rsrp, minimum: -100, median: -63, maximum: -60)])
  }

  @Test("when a thousand reports come in one second, then that second counts once")
  mutating func flood() throws {
    drive.fix(at: 1)
    for index in 0..<1000 { drive.modem(at: 1 + Double(index) / 1000, reading(-90 - Double(index % 3))) }
    drive.stop(at: 2)
    #expect(try radio(0).technologies.map(\.microseconds) == [1_000_000])
  }

  @Test(
    "when a technology has its own signal quantity, then the lowest level is that of this quantity",
    arguments: [
      ("5G/NR", -80.0), ("5G/NRNSA", -95), ("4G/LTE", -95), ("3G/HSPA", -70), ("2G/EDGE", -60), (nil, nil),
      ("NONE", nil),
    ] as [(String?, Double?)])
  func wireLevel(name: String?, level: Double?) {
    var radio = FenceRadio()
    radio.levels = ([(.rssi, -60), (.rscp, -70), (.rsrp, -95), (.nrRSRP, -80)] as [(SignalQuantity, Double)]).map {
      FenceRadio.Level(quantity: $0.0, minimum: $0.1, median: 0, maximum: 0)
    }
    #expect(radio.minimumLevel(of: name.map { Technology($0) }) == level)
  }
}
