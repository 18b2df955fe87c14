import Coverage

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
