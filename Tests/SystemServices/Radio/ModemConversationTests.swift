import Coverage
import TestSupport
import Testing

@testable import SystemServices

/// The conversation with ModemManager, after the real daemon and its documentation.
struct ModemConversationTests {
  private var bus = Bus()

  @Test("when ModemManager shows a modem, then technology, registration, operator, signal and cell are read")
  mutating func whole() {
    bus.show(.modem(mask: 1 << 14))
    bus.answerCells([
      [
        "serving": true, "cell-type": 5, "ci": "01020304", "tac": "1A2B", "physical-ci": "7B", "earfcn": 1300,
        "bandwidth": 20_000_000,
      ]
    ])
    let reading = bus.reading
    #expect(reading.technology == Technology("4G/LTE"))
    #expect(reading.obstacle == nil)
    #expect(reading.modem?.mask == 16384)
    #expect(reading.modem?.registration == .home)
    #expect(reading.modem?.operatorCode == "23201")
    #expect(reading.modem?.operatorName == "A Network")
    #expect(reading.modem?.signal == [.rssi: -60, .rsrp: -91, .rsrq: -10])
    var cell = RadioCell()
    cell.kind = .lte
    (cell.countryCode, cell.networkCode, cell.area, cell.identity) = ("232", "01", 0x1A2B, 0x0102_0304)
    (cell.physical, cell.channel, cell.bandwidth) = (0x7B, 1300, 20_000)
    #expect(reading.modem?.cell == cell)
  }

  @Test("when LTE and 5G are in the mask, then it is 5G non-standalone; 5G alone is standalone; the raw mask stays")
  mutating func fiveG() {
    bus.show(.modem(mask: 1 << 14 | 1 << 15))
    #expect(bus.reading.technology == Technology("5G/NRNSA"))
    bus.change(["AccessTechnologies": .integer(1 << 15)])
    #expect(bus.reading.technology == Technology("5G/NR"))
    #expect(bus.reading.modem?.mask == 1 << 15)
  }

  @Test("when the modem is not registered, then there is no technology with any mask, and the status says why")
  mutating func obstacles() {
    bus.show(.modem(mask: 1 << 14))
    for (state, more, reason) in [
      (-1, ["StateFailedReason": 2], "there is no SIM"), (2, ["UnlockRequired": 2], "the SIM wants its PIN"),
      (2, ["UnlockRequired": 4], "the SIM wants its PUK"), (3, [:], "the modem is disabled (mmcli -m any --enable)"),
      (7, [:], "the modem searches for a network"), (1, [:], "the modem is starting"),
      (-1, ["StateFailedReason": 99], "the modem has failed"),
    ] as [(Int64, [String: Int64], String)] {
      bus.change(more.mapValues(BusValue.integer).merging(["State": .integer(state)]) { $1 })
      #expect(bus.reading.technology == nil)
      #expect(bus.reading.obstacle == reason)
      #expect(bus.reading.modem?.cell == nil)
    }
    bus.change(["RegistrationState": .integer(3)], of: "Modem3gpp")
    bus.change(["State": .integer(7)])
    #expect(bus.reading.obstacle == "the network refuses this SIM")
    bus.change(["State": .integer(11)])
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when values are placeholders for unknown, then they are left out")
  mutating func sentinels() {
    bus.show(.modem(mask: 1 << 14))
    bus.change(
      ["Lte": .dictionary(["rsrp": .double(-32768), "rsrq": .double(-9), "snr": .double(.nan), "rssi": .double(0)])],
      of: "Signal")
    #expect(bus.reading.modem?.signal == [.rsrq: -9])
    bus.change(["OperatorCode": .string(""), "OperatorName": .string("--")], of: "Modem3gpp")
    #expect(bus.reading.modem?.operatorCode == nil)
    #expect(bus.reading.modem?.operatorName == nil)
    bus.change(["Location": .dictionary(["1": .string("232,01,FFFE,0,0")])], of: "Location")
    var cell = RadioCell()
    cell.kind = .lte
    (cell.countryCode, cell.networkCode) = ("232", "01")
    #expect(bus.reading.modem?.cell == cell)
  }

  @Test("when ModemManager may be set up, then signal and cell are requested once, when the modem is registered")
  mutating func setUp() {
    var modem = BusValue.modem(mask: 1 << 14, rate: 0, locations: 0)
    bus.show(modem)
    #expect(bus.sent(.signalSetup(Bus.path)).map(\.arguments) == [[.unsigned(1)]])
    #expect(bus.sent(.locationSetup(Bus.path)).map(\.arguments) == [[.unsigned(1), .bool(true)]])
    bus.answer(.signalSetup(Bus.path))
    bus.answer(.locationSetup(Bus.path))
    bus.change(["Rate": .integer(1)], of: "Signal")
    bus.change(["Enabled": .integer(1), "SignalsLocation": .bool(true)], of: "Location")
    bus.pass(.seconds(60))
    #expect(bus.sent(.signalSetup(Bus.path)).count == 1)
    #expect(bus.sent(.locationSetup(Bus.path)).count == 1)

    bus = Bus(mayConfigure: false)
    modem = .modem(mask: 1 << 14, rate: 0, locations: 0)
    bus.show(modem)
    bus.pass(.seconds(60))
    #expect(bus.sent(.signalSetup(Bus.path)).isEmpty)
  }

  @Test(
    "when ModemManager refuses the setup, then the log says so, and the setup is retried after a while, not at once")
  mutating func refused() {
    bus.show(.modem(mask: 1 << 14, rate: 0))
    bus.fail(.signalSetup(Bus.path), "org.freedesktop.ModemManager1.Error.Core.Unauthorized", "not allowed")
    #expect(
      bus.notes == [
        "ModemManager refuses to report the signal: not allowed (org.freedesktop.ModemManager1.Error.Core.Unauthorized)"
      ])
    bus.pass(.seconds(5))
    #expect(bus.sent(.signalSetup(Bus.path)).count == 1)
    bus.pass(.seconds(10))
    #expect(bus.sent(.signalSetup(Bus.path)).count == 2)
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when other locations are enabled, then they stay enabled")
  mutating func otherLocations() {
    bus.show(.modem(mask: 1 << 14, locations: 4))
    #expect(bus.sent(.locationSetup(Bus.path)).map(\.arguments) == [[.unsigned(5), .bool(true)]])
  }

  @Test("when the modem does not know its cells, then it is not asked again; another modem is asked")
  mutating func withoutCells() {
    bus.show(.modem(mask: 1 << 14))
    bus.fail(.cells(Bus.path), "org.freedesktop.ModemManager1.Error.Core.Unsupported", "unsupported")
    bus.pass(.seconds(60))
    #expect(bus.sent(.cells(Bus.path)).count == 1)
    #expect(bus.reading.modem?.cell?.identity == 0x0102_0304)
    bus.remove(Bus.path)
    bus.add("\(Bus.root)/Modem/1", .modem(mask: 1 << 14))
    #expect(bus.sent(.cells("\(Bus.root)/Modem/1")).count == 1)
  }

  @Test("when the cell changes, then the list is requested at once, and its values of the old cell no longer count")
  mutating func cellChange() {
    bus.show(.modem(mask: 1 << 14))
    bus.answerCells([["serving": true, "cell-type": 5, "ci": "01020304", "tac": "1A2B", "earfcn": 1300]])
    #expect(bus.reading.modem?.cell?.channel == 1300)
    bus.change(["Location": .dictionary(["1": .string("232,01,FFFE,01020305,1A2B")])], of: "Location")
    #expect(bus.reading.modem?.cell?.identity == 0x0102_0305)
    #expect(bus.reading.modem?.cell?.channel == nil)
    #expect(bus.sent(.cells(Bus.path)).count == 2)
    // An answer from before the change: the new cell is a neighbour there.
    bus.answerCells([
      ["serving": true, "cell-type": 5, "ci": "01020304", "tac": "1A2B", "earfcn": 1300],
      ["cell-type": 5, "earfcn": 3350, "rsrp": -80.0], ["cell-type": 6, "serving": true, "nrarfcn": 632_628],
    ])
    #expect(bus.reading.modem?.cell?.channel == nil)
    #expect(bus.reading.modem?.neighbours == [] && bus.reading.modem?.secondaries == [])
    bus.pass(.seconds(1))
    #expect(bus.sent(.cells(Bus.path)).count == 3, "such a list is requested again soon")
    bus.answerCells([["serving": true, "cell-type": 5, "ci": "01020305", "tac": "1A2B", "earfcn": 3350]])
    #expect(bus.reading.modem?.cell?.channel == 3350)
    bus.pass(.seconds(4))
    #expect(bus.sent(.cells(Bus.path)).count == 3)
  }

  @Test("when the next list of cells does not come, then the last one is dropped after 10 s")
  mutating func hungCells() {
    bus.show(.modem(mask: 1 << 14))
    bus.answerCells([
      ["serving": true, "cell-type": 5, "ci": "01020304", "tac": "1A2B", "timing-advance": 7],
      ["cell-type": 5, "earfcn": 3350],
    ])
    bus.pass(.milliseconds(9990))
    #expect(bus.sent(.cells(Bus.path)).count == 2)
    #expect(bus.reading.modem?.timingAdvance == 7 && bus.reading.modem?.neighbours.count == 1)
    bus.pass(.milliseconds(10))
    #expect(bus.reading.modem?.timingAdvance == nil && bus.reading.modem?.neighbours == [])
    #expect(bus.reading.modem?.cell?.identity == 0x0102_0304 && bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when ModemManager hangs, then the technology is unknown within 2 s, and known again with its next answer")
  mutating func hangs() {
    bus.show(.modem(mask: 1 << 14))
    bus.isHung = true
    bus.pass(.milliseconds(1999))
    #expect(bus.reading == RadioReading(obstacle: "ModemManager does not answer"))
    bus.pass(.seconds(30))
    #expect(bus.reading.technology == nil)
    bus.isHung = false
    bus.answer(.liveness)
    bus.answer(.objects, [.dictionary([Bus.path: .modem(mask: 1 << 15)])])
    #expect(bus.reading.technology == Technology("5G/NR"))
  }

  @Test("when ModemManager ends and starts again, then no technology is known in between, and its new modem counts")
  mutating func restarts() {
    bus.show(.modem(mask: 1 << 14))
    bus.owner(isThere: false)
    #expect(bus.reading == RadioReading(obstacle: "ModemManager is not running"))
    bus.pass(.seconds(10))
    #expect(bus.reading.obstacle == "ModemManager is not running")
    bus.owner(isThere: true)
    bus.answer(.objects, [.dictionary([:])])
    #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
    bus.add("\(Bus.root)/Modem/9", .modem(mask: 1 << 4))
    #expect(bus.reading.technology == Technology("2G/EDGE"))
  }

  @Test(
    "when ModemManager is killed during a request, then it counts as not running, and no deadline is left")
  mutating func killed() {
    for isKnownBefore in [true, false] {
      bus = Bus()
      bus.show(.modem(mask: 1 << 14))
      bus.isHung = true
      bus.pass(.milliseconds(1500))
      if isKnownBefore { bus.owner(isThere: false) }
      bus.fail(.liveness, "org.freedesktop.DBus.Error.NoReply", "gone")
      if !isKnownBefore { bus.owner(isThere: false) }
      #expect(bus.reading == RadioReading(obstacle: "ModemManager is not running"))
      #expect(bus.deadline == nil, "a deadline in the past would turn the wait into a loop")
      #expect(bus.notes.isEmpty)
    }
  }

  @Test("when the bus refuses the list of cells, then the log says so, and the request is not repeated")
  mutating func cellsRefused() {
    bus.show(.modem(mask: 1 << 14))
    bus.fail(.cells(Bus.path), "org.freedesktop.DBus.Error.AccessDenied", "no")
    #expect(
      bus.notes == ["ModemManager refuses to report the list of cells: no (org.freedesktop.DBus.Error.AccessDenied)"])
    bus.pass(.seconds(60))
    #expect(bus.sent(.cells(Bus.path)).count == 1)
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when ModemManager is asked whether it lives, then the call is one that Debian's bus allows to every user")
  mutating func liveness() throws {
    bus.show(.modem(mask: 1 << 14))
    let call = try #require(bus.sent(.liveness).first)
    #expect(call.interface == "org.freedesktop.DBus.Properties")
  }

  @Test("when the list of modems is refused, then the log says so, and the list is requested again")
  mutating func listRefused() {
    bus.answer(.owner, [.bool(true)])
    bus.fail(.objects, "org.freedesktop.DBus.Error.AccessDenied", "no")
    #expect(bus.notes == ["the system bus refuses a request: no (org.freedesktop.DBus.Error.AccessDenied)"])
    bus.pass(.seconds(11))
    #expect(bus.sent(.objects).count == 2)
    bus.answer(.objects, [.dictionary([Bus.path: .modem(mask: 1 << 14)])])
    bus.pass(.seconds(30))
    #expect(bus.sent(.objects).count == 2)
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when a modem is replugged forty times, then each time it is gone, and comes back as another object")
  mutating func replugged() {
    bus.show(.modem(mask: 1 << 14))
    bus.remove(Bus.path)
    for number in 1...40 {
      #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
      bus.add("\(Bus.root)/Modem/\(number)", .modem(mask: 1 << 14))
      #expect(bus.reading.technology == Technology("4G/LTE"))
      bus.remove("\(Bus.root)/Modem/\(number)")
    }
  }

  @Test("when there is no ModemManager and none is required, then that is no obstacle")
  mutating func notRequired() {
    bus = Bus(isRequired: false)
    bus.answer(.owner, [.bool(false)])
    #expect(bus.reading == RadioReading())
    bus.pass(.seconds(60))
    #expect(bus.calls.count == 4, "no request to a service that is not there")
  }

  @Test("when ModemManager was not required but ends, then that is an obstacle")
  mutating func endedAlthoughNotRequired() {
    bus = Bus(isRequired: false)
    bus.show(.modem(mask: 1 << 14))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.owner(isThere: false)
    #expect(bus.reading == RadioReading(obstacle: "ModemManager is not running"))
  }
}
