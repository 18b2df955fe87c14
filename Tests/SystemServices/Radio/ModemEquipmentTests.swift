import Coverage
import TestSupport
import Testing

@testable import SystemServices

/// Modem, SIM and bearer: ModemManager's manager lists the modem only, and the two others are asked for by their paths.
struct ModemEquipmentTests {
  private static let sim = "\(Bus.root)/SIM/0"
  private static let bearer = "\(Bus.root)/Bearer/3"
  private static let identity: [String: BusValue] = [
    "SimIdentifier": .string("8943012345678901234"), "Imsi": .string("232010000000001"),
    "OperatorIdentifier": .string("23201"), "OperatorName": .string("Home"),
  ]
  private static let connection: [String: BusValue] = [
    "Connected": .bool(true), "BearerType": .integer(1), "Ip4Config": .dictionary(["method": .integer(2)]),
    "Ip6Config": .dictionary(["method": .integer(0)]),
    "Properties": .dictionary(["apn": .string("internet"), "user": .string("u"), "password": .string("secret")]),
  ]
  private var bus = Bus()

  /// Shows a modem that names a SIM and a bearer, which are not answered for yet.
  private mutating func show() {
    bus.show(.modem(mask: 1 << 14))
    bus.change([
      "Manufacturer": .string("Maker"), "Model": .string("M1"), "Revision": .string("R1.2"),
      "EquipmentIdentifier": .string("490154203237518"), "Sim": .string(Self.sim),
      "Bearers": .list([.string(Self.bearer)]),
    ])
  }

  @Test("when a modem names a SIM and a bearer, then each is asked for once, by its own path and interface")
  mutating func asked() {
    show()
    #expect(bus.sent(.part(Self.sim)).map(\.arguments) == [[.string("org.freedesktop.ModemManager1.Sim")]])
    #expect(bus.sent(.part(Self.bearer)).map(\.arguments) == [[.string("org.freedesktop.ModemManager1.Bearer")]])
    #expect(bus.sent(.part(Self.sim)).allSatisfy { $0.path == Self.sim && $0.member == "GetAll" })
    bus.answer(.part(Self.sim), [.dictionary(Self.identity)])
    bus.answer(.part(Self.bearer), [.dictionary(Self.connection)])
    bus.pass(.seconds(60))
    #expect(bus.sent(.part(Self.sim)).count == 1 && bus.sent(.part(Self.bearer)).count == 1)
  }

  @Test("when they answer, then the equipment has them, the SIM by its pseudonym; no IMSI and no password is kept")
  mutating func whole() {
    show()
    bus.answer(.part(Self.sim), [.dictionary(Self.identity)])
    bus.answer(.part(Self.bearer), [.dictionary(Self.connection)])
    var equipment = ModemEquipment()
    (equipment.manufacturer, equipment.model, equipment.firmware) = ("Maker", "M1", "R1.2")
    (equipment.sim, equipment.simOperatorCode) = ("name of 8943012345678901234", "23201")
    equipment.simOperatorName = "Home"
    (equipment.accessPoint, equipment.bearer, equipment.addresses) = ("internet", .standard, .ipv4)
    #expect(bus.reading.equipment == equipment)
    #expect(bus.reading.modem?.simOperatorCode == "23201" && bus.reading.modem?.simOperatorName == "Home")
    let part = "\(ModemPart(Self.identity)) \(ModemPart(Self.connection))"
    #expect(!part.contains("secret") && !part.contains("232010000000001") && part.contains("internet"))
  }

  @Test("when SIM and bearer change, then the equipment follows; a bearer that is not connected has no part in it")
  mutating func changes() {
    show()
    bus.answer(.part(Self.sim), [.dictionary(Self.identity)])
    bus.answer(.part(Self.bearer), [.dictionary(Self.connection)])
    bus.change(["OperatorIdentifier": .string("26202")], ofWhole: ModemPart.sim, at: Self.sim)
    #expect(bus.reading.modem?.simOperatorCode == "26202")
    bus.change(
      ["Ip6Config": .dictionary(["method": .integer(3)]), "BearerType": .integer(2)], ofWhole: ModemPart.bearer,
      at: Self.bearer)
    #expect(bus.reading.equipment?.addresses == .ipv4v6 && bus.reading.equipment?.bearer == .attach)
    bus.change(["Connected": .bool(false)], ofWhole: ModemPart.bearer, at: Self.bearer)
    #expect(bus.reading.equipment?.accessPoint == nil && bus.reading.equipment?.bearer == nil)
    #expect(bus.reading.equipment?.model == "M1")
    bus.change(["Sim": .string("/"), "Bearers": .list([])])
    #expect(bus.reading.modem?.simOperatorCode == nil && bus.reading.equipment?.sim == nil)
    #expect(bus.reading.technology == Technology("4G/LTE"))
  }

  @Test(
    "when two bearers are connected, then that of the measured interface counts; without one neither",
    arguments: [("wwan1", "internet"), ("wwan7", nil), (nil, nil)] as [(String?, String?)])
  mutating func twoBearers(interface: String?, accessPoint: String?) {
    bus = Bus(interface: interface)
    show()
    let other = "\(Bus.root)/Bearer/2"
    bus.change(["Bearers": .list([.string(other), .string(Self.bearer)])])
    var connection = Self.connection
    connection["Interface"] = .string("wwan1")
    bus.answer(.part(Self.bearer), [.dictionary(connection)])
    #expect(bus.reading.equipment?.accessPoint == "internet", "the only one")
    connection["Interface"] = .string("wwan0")
    connection["Properties"] = .dictionary(["apn": .string("ims")])
    bus.answer(.part(other), [.dictionary(connection)])
    #expect(bus.reading.equipment?.accessPoint == accessPoint)
  }

  @Test("when no modem names a bearer any more, then the time of its question is dropped")
  func forgotten() {
    var (questions, now) = (ModemQuestions(), ContinuousClock.now)
    for path in ["/a", "/b"] { _ = questions.begin(.part(path), at: now, every: .zero) }
    now += .seconds(1)
    _ = questions.begin(.liveness, at: now, every: .zero)
    questions.dropParts(but: ["/b"])
    #expect(Set(questions.asked.keys) == [.part("/b"), .liveness])
  }

  @Test("when values are signs for unknown or of another type, then they are absent")
  mutating func unknown() {
    show()
    bus.change(["Revision": .string("--"), "Manufacturer": .string(""), "Model": .integer(7)])
    bus.answer(
      .part(Self.sim), [.dictionary(["SimIdentifier": .string("not a number"), "OperatorIdentifier": .string("1")])])
    bus.answer(
      .part(Self.bearer),
      [
        .dictionary([
          "Connected": .bool(true), "BearerType": .integer(9), "Ip4Config": .string("x"), "Properties": .list([]),
        ])
      ])
    #expect(bus.reading.equipment == ModemEquipment())
    bus.answer(.part("/nowhere"), [.dictionary(Self.identity)])
    #expect(bus.reading.equipment == ModemEquipment())
  }

  @Test("when a part is refused, then it is not asked for again; a modem with another bearer asks for that one")
  mutating func refused() {
    show()
    bus.fail(.part(Self.sim), "org.freedesktop.DBus.Error.AccessDenied", "no")
    bus.fail(.part(Self.bearer), "org.freedesktop.DBus.Error.UnknownObject", "gone")
    bus.pass(.seconds(60))
    #expect(bus.sent(.part(Self.sim)).count == 1 && bus.sent(.part(Self.bearer)).count == 1)
    bus.change(["Bearers": .list([.string("\(Bus.root)/Bearer/4")])])
    #expect(bus.sent(.part("\(Bus.root)/Bearer/4")).count == 1)
    #expect(bus.reading.equipment?.model == "M1")
  }
}
