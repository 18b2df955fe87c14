import Coverage
import Foundation
import TestSupport
import Testing

@testable import Networking

/// The kernel's description of links, and the resulting kinds, paths and lines.
struct LinkTests {
  @Test(
    "when the kernel describes a link, then its kind follows from the description",
    arguments: [
      // A kernel's own modem driver, as raw IP and as Ethernet; a modem of the WWAN core; Qualcomm's multiplexed one.
      (0xFFFE, "", "wwan", false, .modem), (1, "", "wwan", false, .modem), (0xFFFE, "wwan", nil, false, .modem),
      (519, "rmnet", nil, false, .modem), (519, "", nil, false, .modem), (0xFFFE, "", nil, false, .modem),
      (512, "ppp", nil, false, .modem),
      // cfg80211, and a driver without it.
      (1, "", "wlan", true, .wifi), (1, "", nil, true, .wifi),
      // A card, a modem behind USB Ethernet, and links that software adds.
      (1, "", nil, false, .ethernet), (1, "vlan", "vlan", false, .ethernet), (1, "bridge", "bridge", false, .ethernet),
      (1, "veth", nil, false, .ethernet),
      (0xFFFE, "tun", nil, false, .tunnel), (1, "tun", nil, false, .tunnel), (0xFFFE, "wireguard", nil, false, .tunnel),
      (776, "sit", nil, false, .tunnel), (778, "gre", nil, false, .tunnel),
      (772, "", nil, false, .loopback), (280, "can", nil, false, .other),
    ] as [(UInt16, String, String?, Bool, Link.Kind)])
  func kinds(hardware: UInt16, software: String, deviceType: String?, hasRadio: Bool, expected: Link.Kind) {
    #expect(
      Link.Kind(hardware: hardware, software: software, deviceType: deviceType, hasRadio: hasRadio) == expected)
  }

  @Test("when sysfs has the link, then it shows the type of its device and whether it has a radio")
  func folder() throws {
    let folder = try TemporaryFolder()
    try folder.link("wwan0", index: 7, uevent: "DEVTYPE=wwan\nINTERFACE=wwan0\nIFINDEX=7\n")
    try folder.link("wlan0", index: 8, uevent: "DEVTYPE=wlan\n", radio: "phy80211")
    try folder.link("eth0", index: 9, uevent: "INTERFACE=eth0\n")
    let links = LinkFolder(path: folder.path)
    #expect(links.deviceType(of: "wwan0", index: 7) == "wwan")
    #expect(!links.hasRadio("wwan0", index: 7))
    #expect(links.hasRadio("wlan0", index: 8))
    #expect(links.deviceType(of: "eth0", index: 9) == nil)
  }

  @Test("when sysfs shows another namespace's link of the same name, then it is not used for this link")
  func otherNamespace() throws {
    let folder = try TemporaryFolder()
    try folder.link("wwan0", index: 7, uevent: "DEVTYPE=wwan\n", radio: "wireless")
    let links = LinkFolder(path: folder.path)
    #expect(links.deviceType(of: "wwan0", index: 70) == nil)
    #expect(!links.hasRadio("wwan0", index: 70))
    #expect(links.deviceType(of: "wwan1", index: 7) == nil)
  }

  @Test(
    "when the route leaves by a link, then only a modem or loopback counts as cellular",
    arguments: [
      (.modem, .cellular), (.loopback, .cellular), (.wifi, .wifi), (.ethernet, .wifi), (.tunnel, .wifi),
      (.other, .wifi),
    ] as [(Link.Kind, Coverage.Path)])
  func paths(kind: Link.Kind, expected: Coverage.Path) {
    #expect(PathReading(link: Link(interface: "x0", kind: kind)).path == expected)
    let without = PathReading(link: Link(interface: "x0", kind: kind, isRunning: false))
    #expect(
      without.path == (expected == .cellular ? .offline : .wifi), "without a carrier, no other link is measured either")
    #expect(without.declared(as: .cellular).path == .offline)
  }

  @Test(
    "when nothing is behind a virtual link, then it leads nowhere; the carrier of a device's link is the network's word",
    arguments: [
      ("tun", false, false, true), ("tun", true, false, false), ("bridge", false, false, true),
      ("bridge", false, true, false), ("bond", false, false, true), ("bridge", true, true, false),
      ("dummy", true, false, true), ("", false, false, false), ("wwan", false, false, false),
      ("rmnet", false, true, false), ("veth", false, false, false), ("vlan", false, true, false),
    ] as [(String, Bool, Bool, Bool)])
  func deadEnds(software: String, isRunning: Bool, hasPorts: Bool, expected: Bool) {
    #expect(Link.leadsNowhere(software: software, isRunning: isRunning, hasPorts: hasPorts) == expected)
  }

  @Test("when sysfs shows links below another one, then it has ports")
  func ports() throws {
    let folder = try TemporaryFolder()
    try folder.link("br0", index: 4, uevent: "DEVTYPE=bridge\n")
    let links = LinkFolder(path: folder.path)
    #expect(!links.hasPorts("br0", index: 4))
    _ = try folder.write("", to: "br0/lower_eth0")
    #expect(links.hasPorts("br0", index: 4))
    #expect(links.hasPorts("br1", index: 5), "where sysfs does not show the link, nothing is known")
  }

  @Test("when a link leads nowhere, then no declaration makes it a network, and obstacle and advice say why")
  func deadEnd() {
    let reading = PathReading(link: Link(interface: "tun0", kind: .tunnel, isRunning: false, isDeadEnd: true))
    let declared = reading.declared(as: .cellular)
    #expect(reading.path == .wifi && declared.path == .offline && declared.noWay == .deadEnd)
    #expect(declared.obstacle == "tun0 leads nowhere: on this host, nothing is behind it")
    #expect("\(declared)" == "none, the route leaves by tun0, a tunnel with nothing behind it")
    #expect(declared.advice?.contains("VPN") == true)
    let way = Way(destination: nil, interface: "tun0", address: nil)
    let file = PathReading(
      fixed: .cellular, route: PathReading(link: reading.link ?? Link(interface: "", kind: .other), way: way))
    #expect(file.noWay == .deadEnd && file.obstacle == declared.obstacle)
  }

  @Test("when a link is not measured, then the log and the status line name the link and the remedy")
  func words() {
    func reading(_ kind: Link.Kind, isRunning: Bool = true) -> PathReading {
      PathReading(link: Link(interface: "eth0", kind: kind, isRunning: isRunning))
    }
    #expect(
      "\(reading(.ethernet))" == "the route leaves by eth0, an Ethernet link: counted as not cellular; "
        + "set network.source: fixed-cellular if it is a modem's")
    #expect(reading(.ethernet).obstacle == "on eth0, an Ethernet link, not measuring")
    #expect(reading(.wifi).obstacle == "on Wi-Fi, not measuring")
    #expect(!"\(reading(.wifi))".contains("network.source"))
    #expect("\(reading(.modem))" == "cellular, the route leaves by eth0, a modem")
    #expect(reading(.modem).obstacle == nil)
    #expect("\(reading(.modem, isRunning: false))" == "none, the route leaves by eth0, a modem without a carrier")
    #expect("\(PathReading(fixed: .wifi))" == "wifi, as network.source says")
    #expect(PathReading(fixed: .wifi).obstacle == "on Wi-Fi, not measuring")
    let way = Way(destination: nil, interface: "wwan0", address: "10.1.0.2")
    #expect(
      "\(PathReading(link: Link(interface: "wwan0", kind: .modem), way: way))"
        == "cellular, the route leaves by wwan0, a modem, from 10.1.0.2")
    let route = PathReading(link: Link(interface: "wwan0", kind: .modem), way: way)
    #expect(
      "\(PathReading(fixed: .cellular, route: route))" == "cellular, as network.source says, by wwan0, from 10.1.0.2")
    #expect("\(PathReading.missing(interface: "wwan0"))" == "none, there is no interface wwan0")
    #expect("\(PathReading.noRoute(to: "10.0.0.1", by: nil))" == "none, there is no route to 10.0.0.1")
  }
}

extension TemporaryFolder {
  /// A link as sysfs shows it.
  fileprivate func link(_ name: String, index: Int, uevent: String, radio: String? = nil) throws {
    let path = file(name)
    for folder in [path] + [radio.map { path + "/" + $0 }].compactMap(\.self) {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    _ = try write("\(index)\n", to: "\(name)/ifindex")
    _ = try write(uevent, to: "\(name)/uevent")
  }
}
