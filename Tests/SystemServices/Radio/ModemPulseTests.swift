import Coverage
import Testing

@testable import SystemServices

/// A modem that no longer answers, behind a ModemManager that does.
struct ModemPulseTests {
  private var bus = Bus()
  private static let unsupported = "org.freedesktop.ModemManager1.Error.Core.Unsupported"

  @Test(
    "when the modem is mute, then its values end within 2 s of its last sign of life, and come back with the next one")
  mutating func mute() {
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(10))
    #expect(bus.sent(.networkTime(Bus.path)).count == 11)
    bus.timeError = ""
    bus.pass(.milliseconds(850))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.milliseconds(1150))
    #expect(bus.reading == RadioReading(obstacle: "the modem does not answer"))
    bus.fail(.networkTime(Bus.path), "org.freedesktop.ModemManager1.Error.Serial.ResponseTimeout", "timed out")
    bus.pass(.seconds(20))
    #expect(bus.reading.technology == nil)
    bus.timeError = nil
    bus.answer(.networkTime(Bus.path), [.string("2026-11-20T10:00:00+00")])
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.seconds(10))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.notes.isEmpty)
  }

  @Test(
    "when the process stood still, then the modem is asked before it counts as mute",
    arguments: [1950, 3000, 3_600_000])
  mutating func stoodStill(milliseconds: Int) {
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(10))
    bus.timeError = ""
    bus.standStill(.milliseconds(milliseconds))
    bus.pass(.milliseconds(1))
    #expect(bus.sent(.networkTime(Bus.path)).count == 12)
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.milliseconds(850))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.milliseconds(100))
    #expect(bus.reading == RadioReading(obstacle: "the modem does not answer"))
    bus.answer(.networkTime(Bus.path))
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test("when the signal changes while a question is open, then the modem is mute 2 s after that")
  mutating func openQuestion() {
    bus.timeError = ""
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(1))
    bus.change(["Lte": .dictionary(["rsrp": .double(-99)])], of: "Signal")
    bus.pass(.milliseconds(1850))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.milliseconds(100))
    #expect(bus.reading.obstacle == "the modem does not answer")
  }

  @Test(
    "when the modem answers with an error of its own, then it lives",
    arguments: [
      "org.freedesktop.ModemManager1.Error.Core.Failed", "org.freedesktop.ModemManager1.Error.MobileEquipment.Unknown",
      "org.freedesktop.libqmi.Error.Protocol.InvalidQmiCommand",
    ])
  mutating func errors(name: String) {
    bus.timeError = name
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(30))
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test(
    "when commands to the modem time out, then that is no sign of life",
    arguments: [
      "org.freedesktop.ModemManager1.Error.Serial.ResponseTimeout", "org.freedesktop.libqmi.Error.Core.Timeout",
      "org.freedesktop.libmbim.Error.Core.Aborted", "org.gtk.GDBus.UnmappedGError.Quark._g_2dio_2derror_2dquark.Code24",
    ])
  mutating func timeouts(name: String) {
    bus.timeError = name
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(2))
    #expect(bus.reading.obstacle == "the modem does not answer")
  }

  @Test(
    "when the modem does not know the time, then the list of cells is asked for each second, and shows that it lives")
  mutating func cells() {
    bus.timeError = Self.unsupported
    bus.show(.modem(mask: 1 << 14))
    for _ in 0..<5 {
      bus.answerCells([["serving": true, "cell-type": 5, "ci": "01020304"]])
      bus.pass(.seconds(1))
    }
    #expect(bus.sent(.cells(Bus.path)).count == 6)
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.seconds(2))
    #expect(bus.reading.obstacle == "the modem does not answer")
    bus.answerCells([])
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.sent(.networkTime(Bus.path)).count == 1)
  }

  @Test("when the modem knows neither time nor cells, then nobody can know whether it answers, and its values count")
  mutating func neither() {
    bus.timeError = Self.unsupported
    bus.show(.modem(mask: 1 << 14))
    bus.fail(.cells(Bus.path), Self.unsupported, "unsupported")
    bus.pass(.seconds(60))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.sent(.networkTime(Bus.path)).count == 1 && bus.sent(.cells(Bus.path)).count == 1)
  }

  @Test("when the question is refused, then the log says so once, and it is not repeated")
  mutating func refused() {
    bus.timeError = "org.freedesktop.ModemManager1.Error.Core.Unauthorized"
    bus.show(.modem(mask: 1 << 14))
    bus.fail(.cells(Bus.path), Self.unsupported, "unsupported")
    bus.pass(.seconds(60))
    #expect(
      bus.notes == [
        "ModemManager refuses to ask whether the modem answers: no time "
          + "(org.freedesktop.ModemManager1.Error.Core.Unauthorized)"
      ])
    #expect(bus.sent(.networkTime(Bus.path)).count == 1)
  }

  @Test("when the signal changes, then the modem lives; what ModemManager changes by itself shows nothing")
  mutating func changes() {
    bus.timeError = ""
    bus.show(.modem(mask: 1 << 14))
    for level in 0..<10 {
      bus.pass(.seconds(1))
      bus.change(["Lte": .dictionary(["rsrp": .double(-91 - Double(level))])], of: "Signal")
    }
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.seconds(1))
    bus.change(["SignalQuality": .list([.integer(50), .bool(false)])])
    bus.pass(.seconds(1))
    #expect(bus.reading.obstacle == "the modem does not answer")
  }

  @Test("when a mute modem vanishes or searches for a network, then that is the obstacle, and it begins with a new 2 s")
  mutating func afterwards() {
    bus.timeError = ""
    bus.show(.modem(mask: 1 << 14))
    bus.pass(.seconds(5))
    bus.change(["State": .integer(7)])
    #expect(bus.reading.obstacle == "the modem searches for a network")
    bus.pass(.seconds(60))
    bus.change(["State": .integer(8)])
    #expect(bus.reading.technology == Technology("4G/LTE"))
    bus.pass(.seconds(2))
    #expect(bus.reading.obstacle == "the modem does not answer")
    bus.remove(Bus.path)
    #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
    bus.add("\(Bus.root)/Modem/1", .modem(mask: 1 << 14))
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }
}
