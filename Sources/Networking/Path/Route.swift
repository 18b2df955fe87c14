import CPinger
import Foundation
import Glibc

/// The route of the pings, as the kernel chooses it now. Looking it up sends no packet.
struct Route: Hashable, Sendable {
  /// The interface to which pings are bound; `nil`: none.
  let interface: String?
  /// The host to which pings go. For a name, and for `nil`, the default route is looked up.
  var destination: String?
  var folder = LinkFolder()

  /// The reading by the current route.
  var reading: PathReading {
    let ways = addresses.map(way)
    if let (link, way) = ways.compactMap({ try? $0.get() }).first { return PathReading(link: link, way: way) }
    guard case .failure(let failure)? = ways.first else { return .noRoute(to: destination, by: interface) }
    switch -failure.code {
    case ENODEV: return .missing(interface: interface ?? "")
    // The answers of prohibit and blackhole routes.
    case EACCES, EINVAL: return byOtherFamily ?? .forbidden(to: destination, by: interface)
    case ENETUNREACH, EHOSTUNREACH: return byOtherFamily ?? .noRoute(to: destination, by: interface)
    default: return .unknown(failure)
    }
  }

  /// The reading where there is a route for the other IP version than the destination's.
  private var byOtherFamily: PathReading? {
    guard let destination, let address = Self.numeric(destination),
      let other = Self.anywhere.first(where: { $0.family != address.family }),
      let (link, _) = try? way(to: other).get()
    else { return nil }
    return PathReading(link: link, unreached: destination)
  }

  private var addresses: [cping_address] {
    destination.flatMap(Self.numeric).map { [$0] } ?? Self.anywhere
  }

  /// Addresses for documentation (RFC 5737, 3849): they match the default route only.
  private static let anywhere = ["192.0.2.1", "2001:db8::1"].compactMap(numeric)

  /// The address of a URL's host, with or without the brackets of IPv6; `nil` for a name.
  private static func numeric(_ host: String) -> cping_address? {
    var address = cping_address()
    let text = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    return cping_address_parse(&address, text, 0) == 0 ? address : nil
  }

  private func way(to address: cping_address) -> Result<(Link, Way), KernelFailure> {
    var address = address
    var found = cpnetwork_link()
    let status = cpnetwork_route(&address, interface, &found)
    guard status == 0 else { return .failure(KernelFailure(code: status)) }
    let name = Self.text(of: found.name)
    let (software, isRunning) = (Self.text(of: found.kind), found.is_running != 0)
    let kind = Link.Kind(
      hardware: found.hardware, software: software,
      deviceType: folder.deviceType(of: name, index: found.index),
      hasRadio: folder.hasRadio(name, index: found.index))
    return .success(
      (
        Link(
          interface: name, kind: kind, isRunning: isRunning,
          isDeadEnd: Link.leadsNowhere(
            software: software, isRunning: isRunning, hasPorts: folder.hasPorts(name, index: found.index)),
          ssid: kind == .wifi ? Self.ssid(found.index) : nil, index: found.index),
        Way(destination: destination, interface: name, address: Self.text(found.source))
      ))
  }

  /// A failure is no trouble of the route: the name is left out.
  private static func ssid(_ index: UInt32) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(CPNETWORK_SSID_SIZE))
    let length = Int(cpnetwork_ssid(index, &bytes))
    return length > 0 ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
  }

  private static func text(_ address: cping_address) -> String? {
    guard address.family != 0 else { return nil }
    var text = [CChar](repeating: 0, count: 64)
    return withUnsafePointer(to: address) { String(cString: cping_address_format($0, &text, text.count)) }
  }

  /// The text in a C array of characters.
  private static func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

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

  /// Whether other links are below it, as the ports of a bridge are; `true` where that cannot be read.
  func hasPorts(_ name: String, index: UInt32) -> Bool {
    guard shows(name, index) else { return true }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)")
    return entries?.contains { $0.hasPrefix("lower_") } ?? true
  }

  /// Whether sysfs shows this link. In a network namespace, sysfs can belong to another namespace with another link of the same name.
  private func shows(_ name: String, _ index: UInt32) -> Bool {
    text("\(name)/ifindex").flatMap { UInt32($0.trimmingCharacters(in: .whitespacesAndNewlines)) } == index
  }

  private func text(_ file: String) -> String? {
    FileManager.default.contents(atPath: "\(path)/\(file)").map { String(decoding: $0, as: UTF8.self) }
  }
}
