/// The link by which pings leave, as the kernel describes it.
public struct Link: Hashable, Sendable {
  /// The kind of a link, as far as the kernel shows it.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A mobile network's modem.
    case modem
    /// An 802.11 radio.
    case wifi
    /// A cable, or a modem that looks like one.
    case ethernet
    /// A VPN or the like. The link that carries it is unknown.
    case tunnel
    /// The other end is on this host.
    case loopback
    case other
  }

  /// The name of the interface.
  public let interface: String
  public let kind: Kind
  /// Whether it is up and has a carrier, as far as the kernel knows.
  public let isRunning: Bool
  /// Whether it leads nowhere by itself, whatever the network does (``leadsNowhere(software:isRunning:hasPorts:)``).
  let isDeadEnd: Bool
  /// The name of the Wi-Fi network; bytes that are no UTF-8 are replaced. `nil` for another kind, without a network, and where the kernel has no nl80211.
  public let ssid: String?
  /// The kernel's number of the interface, which it gives to no other one by itself; `nil` when it is not known.
  let index: UInt32?

  public init(
    interface: String, kind: Kind, isRunning: Bool = true, isDeadEnd: Bool = false, ssid: String? = nil,
    index: UInt32? = nil
  ) {
    (self.interface, self.kind, self.isRunning, self.ssid) = (interface, kind, isRunning, ssid)
    (self.isDeadEnd, self.index) = (isDeadEnd, index)
  }

  /// Whether an interface of this name exists only while its modem is connected: that of a dial-up connection, and those by which
  /// ModemManager and the kernel divide a modem's link.
  static func isDialled(_ interface: String) -> Bool {
    ["ppp", "qmimux", "qmapmux", "mbimmux", "rmnet_data"].contains { interface.hasPrefix($0) }
  }

  /// Whether a virtual link has nothing behind it on this host: a dummy, a tun or tap device that no program has open, a bridge or bond without
  /// a port. The kernel drops its packets as sent. The carrier of other links can be the network's word.
  /// - Parameter software: The kind of a virtual link (IFLA_INFO_KIND).
  static func leadsNowhere(software: String, isRunning: Bool, hasPorts: Bool) -> Bool {
    switch software {
    case "dummy": true
    case "tun": !isRunning
    case "bridge", "bond", "team": !isRunning && !hasPorts
    default: false
    }
  }
}

extension Link.Kind: CustomStringConvertible {
  /// A noun with its article, for a sentence.
  public var description: String {
    switch self {
    case .modem: "a modem"
    case .wifi: "a Wi-Fi link"
    case .ethernet: "an Ethernet link"
    case .tunnel: "a tunnel"
    case .loopback: "this host itself"
    case .other: "a link of an unknown kind"
    }
  }
}

extension Link.Kind {
  /// Classifies a link by the kernel's description.
  /// - Parameters:
  ///   - hardware: The type of its addresses, ARPHRD_* of `net/if_arp.h`.
  ///   - software: The kind of a virtual link (IFLA_INFO_KIND); empty for a link of a device.
  ///   - deviceType: DEVTYPE of the link's `uevent`; `nil` when it has none.
  init(hardware: UInt16, software: String, deviceType: String?, hasRadio: Bool) {
    switch hardware {
    case Hardware.loopback: self = .loopback
    case _ where deviceType == "wlan" || hasRadio: self = .wifi
    case _ where deviceType == "wwan" || Self.modems.contains(software): self = .modem
    case _ where Self.tunnels.contains(software): self = .tunnel
    // A dial-up modem. PPP over Ethernet has the same type but is not used in vehicles.
    case Hardware.ppp: self = .modem
    // Bare IP packets: a modem for a link of a device, a tunnel for a virtual link.
    case Hardware.rawIP, Hardware.none: self = software.isEmpty ? .modem : .tunnel
    case _ where Hardware.tunnels.contains(hardware): self = .tunnel
    case Hardware.ethernet: self = .ethernet
    default: self = .other
    }
  }

  private static let modems: Set = ["wwan", "rmnet"]
  private static let tunnels: Set = [
    "tun", "wireguard", "vxlan", "geneve", "gretap", "ip6gretap", "xfrm", "vti", "vti6",
  ]

  /// ARPHRD_* of the kernel's `linux/if_arp.h`.
  private enum Hardware {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    static let loopback: UInt16 = 772
    static let none: UInt16 = 0xFFFE
    /// TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE.
    static let tunnels: Set<UInt16> = [768, 769, 776, 778, 823]
  }
}
