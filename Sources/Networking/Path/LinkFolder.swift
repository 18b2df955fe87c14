import Foundation

/// The description of links in sysfs, `/sys/class/net`: it has values that netlink lacks.
struct LinkFolder: Hashable, Sendable {
  var path = "/sys/class/net"

  /// DEVTYPE of the link's `uevent`: `wwan`, `wlan`, `vlan`, `bridge` ...; `nil` for plain Ethernet.
  func deviceType(of name: String, index: UInt32) -> String? {
    guard shows(name, index), let uevent = text("\(name)/uevent") else { return nil }
    let line = uevent.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }
    return line.map { String($0.dropFirst(8)) }
  }

  /// Whether the link belongs to an 802.11 radio.
  func hasRadio(_ name: String, index: UInt32) -> Bool {
    shows(name, index)
      && ["phy80211", "wireless"].contains { FileManager.default.fileExists(atPath: "\(path)/\(name)/\($0)") }
  }

  /// Whether sysfs shows this link. In a network namespace, sysfs can belong to another namespace with another link of the same name.
  private func shows(_ name: String, _ index: UInt32) -> Bool {
    text("\(name)/ifindex").flatMap { UInt32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } == index
  }

  private func text(_ file: String) -> String? {
    FileManager.default.contents(atPath: "\(path)/\(file)").map { String(decoding: $0, as: UTF8.self) }
  }
}
