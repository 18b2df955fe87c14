import Coverage

/// A modem as ModemManager shows it: properties by interface and name, and their meaning. The numbers of states are those of
/// ModemManager's enumerations (ModemManager-enums.h).
struct ModemObject: Hashable, Sendable {
  /// The interface of every modem. The others have this name with another part behind it, such as `Modem.Signal`.
  static let prefix = "org.freedesktop.ModemManager1.Modem"

  /// The properties by the full name of their interface.
  private(set) var interfaces: [String: [String: BusValue]]

  /// - Parameter interfaces: The interfaces of an object in an answer of `GetManagedObjects`, or a signal
  ///   `InterfacesAdded`.
  init(_ interfaces: BusValue) { self.interfaces = interfaces.dictionary.mapValues(\.dictionary) }

  /// Adds interfaces, and replaces properties by newer ones.
  mutating func add(_ more: BusValue) {
    for (name, properties) in more.dictionary { change(name, properties.dictionary) }
  }

  /// Replaces the properties that a signal `PropertiesChanged` names; the others stay.
  mutating func change(_ interface: String, _ properties: [String: BusValue]) {
    interfaces[interface, default: [:]].merge(properties) { _, new in new }
  }

  /// Removes interfaces by their full names.
  /// - Returns: Whether the object is still a modem.
  mutating func remove(_ names: [String]) -> Bool {
    for name in names { interfaces[name] = nil }
    return isModem
  }

  var isModem: Bool { interfaces[Self.prefix] != nil }

  /// A property of the interface `org.freedesktop.ModemManager1.Modem` or, with a name, of one below it.
  func property(_ name: String, of interface: String? = nil) -> BusValue? {
    interfaces[interface.map { "\(Self.prefix).\($0)" } ?? Self.prefix]?[name]
  }

  /// The names of its network interfaces. `Ports` is an array of name and type (MMModemPortType, 2: net).
  var networkPorts: [String] {
    (property("Ports")?.list ?? []).compactMap { port in
      port.list.count == 2 && port.list[1].number == 2 ? port.list[0].text : nil
    }
  }

  /// The paths of its SIM and of its bearers, each with its interface; `/` stands for none.
  var parts: [(path: String, interface: String)] {
    let sim = property("Sim")?.text.map { ($0, ModemPart.sim) }
    let bearers = (property("Bearers")?.list ?? []).prefix(16).compactMap(\.text).map { ($0, ModemPart.bearer) }
    return ([sim].compactMap { $0 } + bearers).filter { $0.0.count > 1 }
  }

  /// Whether it is registered: MMModemState 8 (registered), and 9 to 11, the states of a connection.
  var isRegistered: Bool { (property("State")?.number ?? 0) >= 8 }

  /// The access technologies as they came; `nil` when the modem does not report them.
  var mask: UInt32? { property("AccessTechnologies")?.number.flatMap(UInt32.init(exactly:)) }

  /// The technology by ``mask``; `nil` while the modem is not registered, whatever the bits are.
  var technology: Technology? {
    isRegistered ? mask.flatMap { AccessTechnologies(rawValue: $0).technology } : nil
  }

  /// MMModem3gppRegistrationState; `nil` for 4 (unknown). 6 and 7 (SMS only) and 9 and 10 (CSFB not preferred) are home
  /// and roaming as well; 11 (attached for restricted local operator services, RLOS) counts as emergency.
  var registration: ModemReading.Registration? {
    switch property("RegistrationState", of: "Modem3gpp")?.number {
    case 0: .idle
    case 1, 6, 9: .home
    case 2: .searching
    case 3: .denied
    case 5, 7, 10: .roaming
    case 8, 11: .emergency
    default: nil
    }
  }

  /// The signal that the modem measures; values outside of the range of their quantity mean "unknown" and are left out.
  var signal: [SignalQuantity: Double] {
    var signal: [SignalQuantity: Double] = [:]
    for (group, members) in Self.signals {
      let values = property(group, of: "Signal")?.dictionary ?? [:]
      for (name, quantity) in members {
        if let value = values[name]?.real, quantity.range.contains(value) { signal[quantity] = value }
      }
    }
    return signal
  }

  /// The dictionaries of the interface `Modem.Signal`, and the quantities of their members. In ascending order of technology:
  /// of several values of RSSI, the last one replaces the others.
  private static let signals: [(group: String, members: [(String, SignalQuantity)])] = [
    ("Gsm", [("rssi", .rssi)]),
    ("Umts", [("rssi", .rssi), ("rscp", .rscp), ("ecio", .ecio)]),
    ("Lte", [("rssi", .rssi), ("rsrp", .rsrp), ("rsrq", .rsrq), ("snr", .sinr)]),
    ("Nr5g", [("rsrp", .nrRSRP), ("rsrq", .nrRSRQ), ("snr", .nrSINR)]),
  ]

  /// The cell by `Location`'s text "MCC,MNC,LAC,CI,TAC" with hexadecimal codes (MM_MODEM_LOCATION_SOURCE_3GPP_LAC_CI = 1).
  var cell: RadioCell? {
    guard let text = property("Location", of: "Location")?.dictionary["1"]?.text else { return nil }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 4, let network = OperatorCode(country: parts[0], network: parts[1]) else { return nil }
    func cell(areaAt index: Int) -> RadioCell {
      var cell = RadioCell()
      (cell.countryCode, cell.networkCode) = (network.country, network.network)
      cell.area = index < parts.count ? Int64(parts[index], radix: 16) : nil
      cell.identity = Int64(parts[3], radix: 16)
      return cell.checked(as: technology?.cellKind)
    }
    // LTE and 5G have a tracking area, GSM and UMTS a location area.
    let tracked = cell(areaAt: 4)
    return tracked.area == nil ? cell(areaAt: 2) : tracked
  }

  /// Why it has no technology, for an operator, by MMModemState; `nil` when it is registered and reports one.
  var obstacle: String? {
    switch property("State")?.number {
    case -1: Self.failures[property("StateFailedReason")?.number ?? 0] ?? "the modem has failed"
    case 2: Self.locks[property("UnlockRequired")?.number ?? 0] ?? "the SIM is locked"
    case 3: "the modem is disabled (mmcli -m any --enable)"
    case 4, 5: "the modem is being switched on or off"
    case 6, 7: registration == .denied ? "the network refuses this SIM" : "the modem searches for a network"
    case .some(8...): mask == 0 ? "the modem reports no technology" : nil
    default: "the modem is starting"
    }
  }

  /// MMModemStateFailedReason.
  private static let failures: [Int64: String] = [
    2: "there is no SIM", 3: "the SIM does not work", 4: "the modem's abilities are unknown",
    5: "the eSIM has no profile",
  ]
  /// MMModemLock.
  private static let locks: [Int64: String] = [
    2: "the SIM wants its PIN", 3: "the SIM wants its PIN2", 4: "the SIM wants its PUK", 5: "the SIM wants its PUK2",
  ]
}

/// The bits of ModemManager's MMModemAccessTechnology. A modem sets one for each technology that it uses at the moment.
struct AccessTechnologies: OptionSet {
  let rawValue: UInt32

  static let gsm = Self(rawValue: 1 << 1)
  static let gsmCompact = Self(rawValue: 1 << 2)
  static let gprs = Self(rawValue: 1 << 3)
  static let edge = Self(rawValue: 1 << 4)
  static let umts = Self(rawValue: 1 << 5)
  static let hsdpa = Self(rawValue: 1 << 6)
  static let hsupa = Self(rawValue: 1 << 7)
  static let hspa = Self(rawValue: 1 << 8)
  static let hspaPlus = Self(rawValue: 1 << 9)
  static let cdma = Self(rawValue: 1 << 10)
  static let evdo0 = Self(rawValue: 1 << 11)
  static let evdoA = Self(rawValue: 1 << 12)
  static let evdoB = Self(rawValue: 1 << 13)
  static let lte = Self(rawValue: 1 << 14)
  static let nr = Self(rawValue: 1 << 15)
  static let lteM = Self(rawValue: 1 << 16)
  static let nbIoT = Self(rawValue: 1 << 17)

  /// The technology by the newest generation among the bits. LTE beside 5G is 5G non-standalone (its anchor is LTE), 5G alone
  /// standalone. LTE-M and NB-IoT count as LTE, as the control server has no names for them (docs/protocol.md, 5). `nil`
  /// without a bit that has a name on the wire.
  var technology: Technology? {
    let isLTE = !isDisjoint(with: [.lte, .lteM, .nbIoT])
    if contains(.nr) { return Technology(isLTE ? "5G/NRNSA" : "5G/NR") }
    if isLTE { return Technology("4G/LTE") }
    // HSDPA for the download with HSUPA for the upload is HSPA (3GPP TS 25.308, 25.319).
    if isSuperset(of: [.hsdpa, .hsupa]), isDisjoint(with: [.hspaPlus]) { return Technology("3G/HSPA") }
    let name = Self.names.first { contains($0.bit) }?.name
    return name.map { Technology($0) }
  }

  /// The bits below LTE, the preferred one first. GPRS counts as GSM.
  private static let names: [(bit: Self, name: String)] = [
    (.hspaPlus, "3G/HSPA+"), (.hspa, "3G/HSPA"), (.hsupa, "3G/HSUPA"), (.hsdpa, "3G/HSDPA"), (.umts, "3G/UMTS"),
    (.evdoB, "2G/EVDO_B"), (.evdoA, "2G/EVDO_A"), (.evdo0, "2G/EVDO_0"), (.cdma, "2G/CDMA"), (.edge, "2G/EDGE"),
    (.gprs, "2G/GSM"), (.gsmCompact, "2G/GSM"), (.gsm, "2G/GSM"),
  ]
}
