import Coverage
import TestSupport
import Testing

@testable import SystemServices

/// Messages that come twice, in another order, about other objects, or with values of other types.
struct HostileMessageTests {
  private static let other = "\(Bus.root)/Modem/1"
  private static let sim = "\(Bus.root)/SIM/0"
  private var bus = Bus()

  private func named(_ name: String) -> String { "\(ModemObject.prefix).\(name)" }

  @Test("when a modem is announced twice, then it is one modem, with the newer values, and no call is repeated")
  mutating func twice() {
    bus.show(.modem(mask: 1 << 14, rate: 0, locations: 0))
    let calls = bus.calls.count
    bus.add(Bus.path, .modem(mask: 1 << 15, rate: 0, locations: 0))
    #expect(bus.reading.technology == Technology("5G/NR"))
    #expect(bus.calls.count == calls)
    bus.remove(Bus.path)
    #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
    bus.remove(Bus.path)
    #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
  }

  @Test(
    "when an answer about cells comes after its modem has gone, then a later modem of the same path does not get it")
  mutating func lateCells() {
    bus.show(.modem(mask: 1 << 14))
    bus.remove(Bus.path)
    bus.answerCells([["serving": true, "ci": "0A", "earfcn": 1300], ["serving": false, "earfcn": 3350]])
    let bare = BusValue.dictionary([
      ModemObject.prefix: .dictionary(["State": .integer(8), "AccessTechnologies": .integer(1 << 14)])
    ])
    bus.add(Bus.path, bare)
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.reading.modem?.cell == nil)
    #expect(bus.reading.modem?.neighbours.isEmpty == true)
  }

  @Test("when other objects of ModemManager come, change and go, then they are ignored")
  mutating func otherObjects() {
    let sim = BusValue.dictionary(["org.freedesktop.ModemManager1.Sim": .dictionary(["Active": .bool(true)])])
    bus.answer(.owner, [.bool(true)])
    bus.answer(.objects, [.dictionary([Self.sim: sim, Bus.path: .modem(mask: 1 << 14)])])
    bus.add(Self.sim, sim)
    bus.change(["AccessTechnologies": .integer(1 << 5)], at: Self.sim)
    bus.remove(Self.sim)
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.reading.obstacle == nil)
  }

  @Test("when a modem appears beside the only one, then neither is chosen, and the new one gets no calls")
  mutating func second() {
    bus.show(.modem(mask: 1 << 14))
    bus.add(Self.other, .modem(mask: 1 << 15, rate: 0, locations: 0))
    #expect(bus.reading.technology == nil)
    #expect(bus.reading.obstacle == "there are 2 modems; set pings.interface or links to choose one")
    bus.pass(.seconds(30))
    #expect(bus.sent(.signalSetup(Self.other)).isEmpty && bus.sent(.cells(Self.other)).isEmpty)
    bus.remove(Bus.path)
    #expect(bus.reading.technology == Technology("5G/NR"))
  }

  @Test("when the link's modem loses its interface below Modem, then only those values are unknown")
  mutating func interfaceGone() {
    bus.show(.modem(mask: 1 << 14))
    bus.handle(
      .signal(
        path: Bus.root, interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved",
        [.string(Bus.path), .list([.string(named("Signal")), .string(named("Modem3gpp"))])]))
    #expect(bus.reading.technology == Technology("4G/LTE"))
    #expect(bus.reading.modem?.signal.isEmpty == true)
    #expect(bus.reading.modem?.operatorCode == nil && bus.reading.modem?.registration == nil)
    #expect(bus.reading.modem?.cell?.identity == 0x0102_0304)
  }

  @Test("when nothing may be set up, then no setup is requested, but cells are")
  mutating func mayNotConfigure() {
    bus = Bus(mayConfigure: false)
    bus.show(.modem(mask: 1 << 14, rate: 0, locations: 0))
    bus.pass(.seconds(30))
    #expect(bus.sent(.signalSetup(Bus.path)).isEmpty && bus.sent(.locationSetup(Bus.path)).isEmpty)
    #expect(bus.sent(.cells(Bus.path)).count == 1, "the first request is not answered yet")
    bus.answerCells([])
    bus.pass(.seconds(6))
    #expect(bus.sent(.cells(Bus.path)).count == 2)
  }

  @Test("when the modem is not registered, then nothing is set up or requested until it is")
  mutating func unregistered() {
    bus.show(.modem(mask: 1 << 14, rate: 0, locations: 0))
    bus = Bus()
    bus.answer(.owner, [.bool(true)])
    var modem = ModemObject(.modem(mask: 1 << 14, rate: 0, locations: 0))
    modem.change(ModemObject.prefix, ["State": .integer(7)])
    bus.answer(.objects, [.dictionary([Bus.path: .dictionary(modem.interfaces.mapValues { .dictionary($0) })])])
    bus.pass(.seconds(20))
    #expect(bus.sent(.signalSetup(Bus.path)).isEmpty && bus.sent(.cells(Bus.path)).isEmpty)
    bus.change(["State": .integer(8)])
    #expect(bus.sent(.signalSetup(Bus.path)).count == 1 && bus.sent(.cells(Bus.path)).count == 1)
    #expect(bus.sent(.locationSetup(Bus.path)).map(\.arguments) == [[.unsigned(1), .bool(true)]])
  }

  @Test(
    "when a message has other values than its kind requires, then it changes nothing",
    arguments: [
      .signal(path: "/", interface: "org.freedesktop.DBus", member: "NameOwnerChanged", []),
      .signal(
        path: "/", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
        [.string("org.example.Other"), .string(":1.5"), .string("")]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
        [.integer(1), .integer(2), .integer(3)]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus", member: "NameAcquired", [.string(ModemConversation.service)]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded", [.string(Bus.path)]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded",
        [.integer(1), .dictionary([:])]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded",
        [.string(Self.other), .string("x")]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved", [.string(Bus.path)]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved",
        [.string(Bus.path), .string(ModemObject.prefix)]),
      .signal(
        path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesRemoved",
        [.string(Bus.path), .list([.integer(1)])]),
      .signal(
        path: Bus.path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        [.string(ModemObject.prefix)]),
      .signal(
        path: Bus.path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        [.string(ModemObject.prefix), .list([.string("State")]), .list([])]),
      .signal(
        path: Bus.path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        [.integer(1), .dictionary(["State": .integer(3)]), .list([])]),
      .signal(
        path: "/nowhere", interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
        [.string(ModemObject.prefix), .dictionary(["State": .integer(3)]), .list([])]),
      .signal(path: Bus.path, interface: ModemObject.prefix, member: "StateChanged", [.integer(8), .integer(3)]),
      .answer(.owner, []), .answer(.owner, [.string("true")]), .answer(.match, [.integer(1)]),
      .answer(.signalSetup("/nowhere"), []), .answer(.cells("/nowhere"), [.integer(7)]),
    ] as [ModemMessage])
  mutating func otherValues(message: ModemMessage) {
    bus.show(.modem(mask: 1 << 14))
    let (before, calls) = (bus.reading, bus.calls.count)
    bus.handle(message)
    #expect(bus.reading == before)
    #expect(bus.calls.count == calls && bus.notes.isEmpty)
  }

  @Test("when the list of modems has another type, then there is no modem, and a modem that comes later counts")
  mutating func brokenList() {
    for values in [[], [.string("x")], [.list([.modem(mask: 1)])], [.dictionary([Bus.path: .integer(1)])]]
      as [[BusValue]]
    {
      bus = Bus()
      bus.answer(.owner, [.bool(true)])
      bus.answer(.objects, values)
      #expect(bus.reading == RadioReading(obstacle: "there is no modem"))
      bus.add(Bus.path, .modem(mask: 1 << 14))
      #expect(bus.reading.technology == Technology("4G/LTE"))
    }
  }

  @Test("when values are read as another type, then the result is empty")
  func values() {
    let all: [BusValue] = [
      .bool(true), .integer(1), .double(1), .string("1"), .list([.other]), .dictionary(["a": .other]), .other,
    ]
    #expect(all.map { $0.text != nil } == [false, false, false, true, false, false, false])
    #expect(all.map { $0.number != nil } == [false, true, false, false, false, false, false])
    #expect(all.map { $0.real != nil } == [false, true, true, false, false, false, false])
    #expect(all.map(\.isTrue) == [true, false, false, false, false, false, false])
    #expect(all.map { $0.list.count } == [0, 0, 0, 0, 1, 0, 0])
    #expect(all.map { $0.dictionary.count } == [0, 0, 0, 0, 0, 1, 0])
    #expect(["", "--", "A"].map { BusValue.string($0).name } == [nil, nil, "A"])
    #expect(BusValue.string(String(repeating: "x", count: 99)).name?.count == 64)
    #expect(
      ["1F", "-1", "", "xyz", "FFFFFFFFFFFFFFFFF"].map { BusValue.string($0).hexadecimal } == [
        0x1F, nil, nil, nil, nil,
      ])
  }

  @Test(
    "when messages come in any order, then a reading has a technology only with a registered modem and a live service")
  mutating func anyOrder() {
    var random = SeededGenerator(seed: SeededGenerator.seedOfThisRun)
    let modem = BusValue.modem(mask: 1 << 14)
    for _ in 0..<200 {
      bus = Bus()
      var (isThere, modems) = (false, Set<String>())
      for _ in 0..<30 {
        let path = Bool.random(using: &random) ? Bus.path : Self.other
        switch Int.random(in: 0..<7, using: &random) {
        case 0 where !isThere:
          bus.owner(isThere: true)
          (isThere, modems) = (true, [])
          bus.answer(.objects, [.dictionary([:])])
        case 1 where isThere:
          bus.owner(isThere: false)
          (isThere, modems) = (false, [])
        case 2 where isThere:
          bus.add(path, modem)
          modems.insert(path)
        case 3 where isThere:
          bus.remove(path)
          modems.remove(path)
        case 4: bus.change(["AccessTechnologies": .integer(1 << 14)], at: path)
        case 5: bus.answerCells([["serving": true, "earfcn": 1300]])
        default: bus.pass(.milliseconds(700))
        }
        #expect((bus.reading.technology != nil) == (isThere && modems.count == 1))
        #expect((bus.reading.obstacle == "ModemManager is not running") == !isThere)
        #expect((bus.deadline == nil) == !isThere)
      }
    }
  }
}
