import Foundation
import TestSupport
import Testing

@testable import Networking

/// sysfs of other kernels, of other namespaces and of a removed link; and the precedence of the signs of a link's kind.
struct LinkFolderTests {
  private let folder: TemporaryFolder
  private var links: LinkFolder { LinkFolder(path: folder.path) }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ name: String, index: String?, uevent: String?, radio: String? = nil) throws {
    let path = folder.file(name) + (radio.map { "/\($0)" } ?? "")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    if let index { _ = try folder.write(index, to: "\(name)/ifindex") }
    if let uevent { _ = try folder.write(uevent, to: "\(name)/uevent") }
  }

  @Test(
    "when the index is this link's number in any form, then sysfs shows the link; else it does not",
    arguments: [
      ("7", true), ("7\n", true), (" 7 \r\n", true), ("007", true), ("", false), ("70", false), ("-7", false),
      ("0x7", false), ("4294967303", false), ("7 7", false), (nil, false),
    ] as [(String?, Bool)])
  func index(text: String?, isShown: Bool) throws {
    try make("wwan0", index: text, uevent: "DEVTYPE=wwan\n", radio: "wireless")
    #expect((links.deviceType(of: "wwan0", index: 7) == "wwan") == isShown)
    #expect(links.hasRadio("wwan0", index: 7) == isShown)
  }

  @Test(
    "when the uevent names a type of device, then the first such line counts",
    arguments: [
      ("DEVTYPE=wwan", "wwan"), ("INTERFACE=a\nDEVTYPE=wlan\nDEVTYPE=wwan\n", "wlan"), ("DEVTYPE=\n", ""),
      ("XDEVTYPE=wwan\n", nil), ("devtype=wwan\n", nil), ("", nil), (nil, nil),
    ] as [(String?, String?)])
  func uevent(text: String?, expected: String?) throws {
    try make("x0", index: "1\n", uevent: text)
    #expect(links.deviceType(of: "x0", index: 1) == expected)
  }

  @Test("when a link goes away, then sysfs shows neither its radio nor its type of device")
  func gone() throws {
    try make("wlan0", index: "3\n", uevent: "DEVTYPE=wlan\n", radio: "phy80211")
    #expect(links.hasRadio("wlan0", index: 3))
    try FileManager.default.removeItem(atPath: folder.file("wlan0"))
    #expect(!links.hasRadio("wlan0", index: 3))
    #expect(links.deviceType(of: "wlan0", index: 3) == nil)
    #expect(!LinkFolder(path: folder.file("nowhere")).hasRadio("wlan0", index: 3))
  }

  @Test(
    "when signs contradict each other, then loopback wins, then a radio, then a modem, then a tunnel",
    arguments: [
      (772, "wwan", "wlan", true, .loopback), (1, "wwan", "wwan", true, .wifi), (512, "", "wlan", false, .wifi),
      (768, "", "wwan", false, .modem), (768, "rmnet", nil, false, .modem), (512, "tun", nil, false, .tunnel),
      (1, "vxlan", nil, false, .tunnel), (519, "xfrm", nil, false, .tunnel), (519, "other", nil, false, .tunnel),
      (768, "", nil, false, .tunnel), (823, "", nil, false, .tunnel), (0, "", nil, false, .other),
      (65_535, "", "unknown", false, .other),
    ] as [(UInt16, String, String?, Bool, Link.Kind)])
  func precedence(hardware: UInt16, software: String, deviceType: String?, hasRadio: Bool, expected: Link.Kind) {
    #expect(
      Link.Kind(hardware: hardware, software: software, deviceType: deviceType, hasRadio: hasRadio) == expected)
  }
}
