import Coverage
import Testing

@testable import SystemServices

/// A modem's properties as ModemManager shows them, and as a faulty plug-in could.
struct ModemObjectTests {
  private func name(_ interface: String) -> String { "\(ModemObject.prefix).\(interface)" }

  /// A modem with these properties of its main interface, and of one below it.
  private func modem(
    _ properties: [String: BusValue], _ interface: String = "Modem3gpp", _ others: [String: BusValue] = [:]
  ) -> ModemObject {
    ModemObject(.dictionary([ModemObject.prefix: .dictionary(properties), name(interface): .dictionary(others)]))
  }

  @Test(
    "when ModemManager reports a registration, then it is a registration of the drive log",
    arguments: [
      (0, .idle), (1, .home), (2, .searching), (3, .denied), (4, nil), (5, .roaming), (6, .home), (7, .roaming),
      (8, .emergency), (9, .home), (10, .roaming), (11, .emergency), (12, nil), (-1, nil), (.max, nil),
    ] as [(Int64, ModemReading.Registration?)])
  func registration(number: Int64, expected: ModemReading.Registration?) {
    #expect(modem([:], "Modem3gpp", ["RegistrationState": .integer(number)]).registration == expected)
  }

  @Test("when a registration is not a number or is absent, then it is unknown")
  func noRegistration() {
    #expect(modem([:], "Modem3gpp", ["RegistrationState": .string("1")]).registration == nil)
    #expect(modem([:], "Modem3gpp", ["RegistrationState": .double(1)]).registration == nil)
    #expect(modem([:]).registration == nil)
    #expect(modem(["RegistrationState": .integer(1)]).registration == nil, "it belongs to another interface")
  }

  @Test(
    "when the state is 8 or more, then the modem is registered, and its mask is a technology; else it has none",
    arguments: [(-1, false), (0, false), (7, false), (8, true), (11, true), (.max, true), (.min, false)]
      as [(Int64, Bool)])
  func registered(state: Int64, isRegistered: Bool) {
    let modem = modem(["State": .integer(state), "AccessTechnologies": .integer(1 << 14)])
    #expect(modem.isRegistered == isRegistered)
    #expect(modem.technology == (isRegistered ? Technology("4G/LTE") : nil))
    #expect(modem.mask == 1 << 14)
  }

  @Test(
    "when the mask is not a 32-bit number, then there is neither a mask nor a technology",
    arguments: [.integer(-1), .integer(1 << 32), .integer(.max), .string("16384"), .double(16384), .other, .list([])]
      as [BusValue])
  func masks(value: BusValue) {
    let modem = modem(["State": .integer(8), "AccessTechnologies": value])
    #expect(modem.mask == nil && modem.technology == nil)
    #expect(modem.obstacle == nil, "the network is there; only its technology is unknown")
  }

  @Test("when the mask is 0, then the obstacle is that the modem reports no technology")
  func noTechnology() {
    let modem = modem(["State": .integer(8), "AccessTechnologies": .integer(0)])
    #expect(modem.technology == nil)
    #expect(modem.obstacle == "the modem reports no technology")
  }

  @Test(
    "when the modem is in no network, then the obstacle says why; an unknown reason gives a general one",
    arguments: [
      (-1, "StateFailedReason", 3, "the SIM does not work"),
      (-1, "StateFailedReason", 4, "the modem's abilities are unknown"),
      (-1, "StateFailedReason", 5, "the eSIM has no profile"), (-1, "StateFailedReason", 0, "the modem has failed"),
      (2, "UnlockRequired", 3, "the SIM wants its PIN2"), (2, "UnlockRequired", 5, "the SIM wants its PUK2"),
      (2, "UnlockRequired", 17, "the SIM is locked"), (2, "StateFailedReason", 2, "the SIM is locked"),
      (0, "x", 0, "the modem is starting"), (1, "x", 0, "the modem is starting"), (-2, "x", 0, "the modem is starting"),
      (4, "x", 0, "the modem is being switched on or off"), (5, "x", 0, "the modem is being switched on or off"),
      (6, "x", 0, "the modem searches for a network"),
    ] as [(Int64, String, Int64, String)])
  func obstacles(state: Int64, property: String, value: Int64, expected: String) {
    #expect(modem(["State": .integer(state), property: .integer(value)]).obstacle == expected)
  }

  @Test("when a modem has reported no state, then it is starting")
  func stateless() {
    #expect(modem([:]).obstacle == "the modem is starting")
    #expect(modem(["State": .string("8")]).obstacle == "the modem is starting")
  }

  @Test("when several technologies have a signal, then RSSI is that of the newest one, and each keeps its other levels")
  func signals() {
    let groups: [String: BusValue] = [
      "Gsm": .dictionary(["rssi": .double(-70)]),
      "Umts": .dictionary(["rssi": .double(-75), "rscp": .double(-80), "ecio": .integer(-6)]),
      "Lte": .dictionary(["rssi": .double(-65), "rsrp": .double(-95), "snr": .double(11.5)]),
      "Nr5g": .dictionary(["rsrp": .double(-101), "rsrq": .double(-11), "snr": .double(3)]),
      "Cdma": .dictionary(["rssi": .double(-50)]),
    ]
    #expect(
      modem([:], "Signal", groups).signal == [
        .rssi: -65, .rscp: -80, .ecio: -6, .rsrp: -95, .sinr: 11.5, .nrRSRP: -101, .nrRSRQ: -11, .nrSINR: 3,
      ])
  }

  @Test(
    "when a level is at an end of its range, then it counts; beyond it, it is unknown",
    arguments: SignalQuantity.allCases)
  func levels(quantity: SignalQuantity) throws {
    let (group, member) = try #require(
      [
        .rssi: ("Lte", "rssi"), .rsrp: ("Lte", "rsrp"), .rsrq: ("Lte", "rsrq"), .sinr: ("Lte", "snr"),
        .rscp: ("Umts", "rscp"), .ecio: ("Umts", "ecio"), .nrRSRP: ("Nr5g", "rsrp"), .nrRSRQ: ("Nr5g", "rsrq"),
        .nrSINR: ("Nr5g", "snr"),
      ][quantity])
    func level(_ value: Double) -> Double? {
      modem([:], "Signal", [group: .dictionary([member: .double(value)])]).signal[quantity]
    }
    let (lowest, highest) = (quantity.range.lowerBound, quantity.range.upperBound)
    #expect(level(lowest) == lowest && level(highest) == highest)
    for value in [lowest.nextDown, highest.nextUp, .nan, .infinity, -.infinity, -32768] { #expect(level(value) == nil) }
  }

  @Test("when a group of levels has another type, then it has no level")
  func brokenSignals() {
    for value in [.string("-60"), .list([.double(-60)]), .dictionary(["rssi": .string("-60")]), .other] as [BusValue] {
      #expect(modem([:], "Signal", ["Gsm": value, "Lte": value]).signal.isEmpty)
    }
  }

  @Test(
    "when the location is written as MCC,MNC,LAC,CI,TAC, then the cell has the tracking area, else the location area",
    arguments: [
      ("232,01,FFFE,01020304,1A2B", "232", "01", 0x1A2B, 0x0102_0304),
      ("310,410,2B1A,00FF,0", "310", "410", 0x2B1A, 0xFF),
      ("232,01,2B1A,00FF", "232", "01", 0x2B1A, 0xFF), ("232,01,FFFE,1,FFFE", "232", "01", nil, 1),
      ("232,01,0,0,0", "232", "01", nil, nil), ("232,01,x,y,z", "232", "01", nil, nil),
      ("232,01,,,", "232", "01", nil, nil),
      ("232,01,-5,-6,-7", "232", "01", nil, nil), ("232,01,1,FFFFFFFFFFFFFFFFF,2", "232", "01", 2, nil),
      ("232,01,1,2,3,4,5", "232", "01", 3, 2),
    ] as [(String, String, String, Int64?, Int64?)])
  func locations(text: String, country: String, network: String, area: Int64?, identity: Int64?) throws {
    let cell = try #require(modem([:], "Location", ["Location": .dictionary(["1": .string(text)])]).cell)
    #expect((cell.countryCode, cell.networkCode) == (country, network))
    #expect((cell.area, cell.identity) == (area, identity))
  }

  @Test(
    "when the location has another form, then there is no cell",
    arguments: [
      "", ",,,,", "232,01,1", "23,1,1,2,3", "2320,010,1,2,3", "2320,1,1,2,3", "abc,de,1,2,3", "٢٣٢,01,1,2,3", "23201",
    ])
  func noLocations(text: String) {
    #expect(modem([:], "Location", ["Location": .dictionary(["1": .string(text)])]).cell == nil)
  }

  @Test("when the location is of another source or type, then there is no cell")
  func otherSources() {
    for location in [
      .dictionary(["2": .string("232,01,1,2,3")]), .string("232,01,1,2,3"), .dictionary(["1": .integer(7)]),
    ] as [BusValue] {
      #expect(modem([:], "Location", ["Location": location]).cell == nil)
    }
  }

  @Test("when interfaces are added again, then newer properties replace older ones, and the others stay")
  func added() {
    var modem = modem(["State": .integer(7), "AccessTechnologies": .integer(1 << 5)])
    modem.add(
      .dictionary([
        ModemObject.prefix: .dictionary(["State": .integer(8)]), name("Signal"): .dictionary(["Rate": .integer(5)]),
      ]))
    #expect(modem.technology == Technology("3G/UMTS"))
    #expect(modem.property("Rate", of: "Signal") == .integer(5))
    modem.add(.string("no dictionary"))
    #expect(modem.isRegistered)
  }

  @Test("when an interface below is removed, then its properties go; without the main one there is no modem")
  func removed() {
    var modem = ModemObject(.modem(mask: 1 << 14))
    let isModemStill = modem.remove([name("Signal"), "org.example.Other"])
    #expect(isModemStill && modem.signal.isEmpty && modem.cell != nil)
    let isModemThen = modem.remove([ModemObject.prefix])
    #expect(!isModemThen)
    #expect(!ModemObject(.list([])).isModem)
  }

  @Test(
    "when a location has codes that are reserved or too wide for the technology, then they are absent",
    arguments: [
      (1 << 14, "232,01,FFFE,FFFFFFFF,FFFFFE", nil, nil), (1 << 14, "232,01,FFFE,10000000,1A2B", 0x1A2B, nil),
      (1 << 14, "232,01,FFFE,0FFFFFFE,FFFF", nil, 0xFFF_FFFE), (1 << 14, "232,01,2B1A,1,1A2B3C", 0x2B1A, 1),
      (1 << 14 | 1 << 15, "232,01,FFFE,102030405,1A2B", 0x1A2B, nil),
      (1 << 15, "232,01,FFFE,102030405,00FFFE", 0xFFFE, 0x1_0203_0405),
      (1 << 15, "232,01,0,1000000000,FFFFFE", nil, nil), (1 << 15, "232,01,0,FFFFFFFFF,FFFFFF", nil, nil),
      (1 << 5, "232,01,FFFE,0FEDCBA1,0", nil, 0xFED_CBA1), (1 << 1, "232,01,1A2B,10001,0", 0x1A2B, nil),
    ] as [(Int64, String, Int64?, Int64?)])
  func reserved(mask: Int64, text: String, area: Int64?, identity: Int64?) throws {
    let object = ModemObject(
      .dictionary([
        ModemObject.prefix: .dictionary(["State": .integer(8), "AccessTechnologies": .integer(mask)]),
        name("Location"): .dictionary(["Location": .dictionary(["1": .string(text)])]),
      ]))
    let cell = try #require(object.cell)
    #expect((cell.area, cell.identity) == (area, identity))
  }
}
