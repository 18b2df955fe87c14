import Coverage
import Testing

@testable import SystemServices

/// The bits of MMModemAccessTechnology, and their names on the wire.
struct AccessTechnologiesTests {
  @Test(
    "when the modem reports bits, then the name is that of the highest, and LTE beside 5G is non-standalone",
    arguments: [
      (0, nil), (1 << 0, nil), (1 << 1, "2G/GSM"), (1 << 2, "2G/GSM"), (1 << 3, "2G/GSM"), (1 << 4, "2G/EDGE"),
      (1 << 5, "3G/UMTS"), (1 << 6, "3G/HSDPA"), (1 << 7, "3G/HSUPA"), (1 << 6 | 1 << 7, "3G/HSPA"),
      (1 << 8, "3G/HSPA"),
      (1 << 9, "3G/HSPA+"), (1 << 6 | 1 << 7 | 1 << 9, "3G/HSPA+"), (1 << 10, "2G/CDMA"), (1 << 11, "2G/EVDO_0"),
      (1 << 12, "2G/EVDO_A"), (1 << 13, "2G/EVDO_B"), (1 << 14, "4G/LTE"), (1 << 16, "4G/LTE"), (1 << 17, "4G/LTE"),
      (1 << 15, "5G/NR"), (1 << 14 | 1 << 15, "5G/NRNSA"), (1 << 5 | 1 << 14, "4G/LTE"), (1 << 31, nil),
    ] as [(UInt32, String?)])
  func names(mask: UInt32, name: String?) {
    #expect(AccessTechnologies(rawValue: mask).technology?.name == name)
    if let name { #expect(Technology(name).isKnown) }
  }
}
