import Testing

@testable import SystemServices

/// With several modems, a link finds its own by its interface.
struct ModemChoiceTests {
  private func modems(_ ports: [(String, Int64)]...) -> [String: ModemObject] {
    Dictionary(
      uniqueKeysWithValues: ports.enumerated().map { ("modem \($0)", ModemObject(.modem(mask: 1 << 14, ports: $1))) })
  }

  @Test("when modems have network interfaces, then the one with the link's interface counts; control ports do not")
  func byInterface() {
    let two = modems([("cdc-wdm0", 6), ("wwan0", 2)], [("wwan0", 3), ("wwan1", 2)])
    #expect(ModemChoice(among: two, interface: "wwan0") == .modem("modem 0"))
    #expect(ModemChoice(among: two, interface: "wwan1") == .modem("modem 1"))
    #expect(ModemChoice(among: two, interface: "wwan2") == .none("no modem has the interface wwan2"))
  }

  @Test("when the link has no interface, then the only modem counts, and of several none is chosen")
  func withoutInterface() {
    #expect(ModemChoice(among: modems([("wwan0", 2)]), interface: nil) == .modem("modem 0"))
    #expect(
      ModemChoice(among: modems([("wwan0", 2)], [("wwan1", 2)]), interface: nil)
        == .none("there are 2 modems; set pings.interface or links to choose one"))
    #expect(
      ModemChoice(among: modems([("ttyUSB0", 3)], [("ttyUSB1", 3)]), interface: "ppp0")
        == .none("there are 2 modems; none has the interface ppp0"))
    #expect(ModemChoice(among: [:], interface: nil) == .none("there is no modem"))
    #expect(ModemChoice(among: [:], interface: "wwan0") == .none("there is no modem"))
  }

  @Test("when the only modem dials through a serial port, then it counts for an interface that no modem has")
  func serial() {
    #expect(ModemChoice(among: modems([("ttyUSB0", 3)]), interface: "ppp0") == .modem("modem 0"))
    #expect(
      ModemChoice(among: modems([("ttyUSB0", 3)], [("wwan0", 2)]), interface: "ppp0") == .modem("modem 0"))
    #expect(ModemChoice(among: modems([("ttyUSB0", 3)], [("wwan0", 2)]), interface: "wwan0") == .modem("modem 1"))
  }

  @Test("when ports have an impossible form, then they are ignored")
  func broken() {
    let modem = ModemObject(
      .dictionary([ModemObject.prefix: .dictionary(["Ports": .list([.other, .list([]), .list([.string("wwan0")])])])]))
    #expect(modem.networkPorts.isEmpty)
  }
}
