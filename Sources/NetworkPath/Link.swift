/// The link that pings leave by, as the kernel describes it.
public struct Link: Hashable, Sendable {
  /// What a link is, as far as that can be told from here.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A mobile network's modem.
    case modem
    case wifi
    /// A cable, or a modem that looks like one.
    case ethernet
    /// A VPN or the like; what carries it is not known.
    case tunnel
    /// The other end is on this host.
    case loopback
    case other
  }

  public let interface: String
  public let kind: Kind
  /// Whether it is up and has a carrier, as far as the kernel knows.
  public let isRunning: Bool

  public init(interface: String, kind: Kind, isRunning: Bool = true) {
    self.interface = interface
    self.kind = kind
    self.isRunning = isRunning
  }
}

extension Link.Kind: CustomStringConvertible {
  /// For a sentence, with its article.
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
  /// From what the kernel says of the link.
  /// - Parameters:
  ///   - hardware: The type of its addresses, ARPHRD_* of `net/if_arp.h`.
  ///   - software: The kind of a link that software makes; empty where it stands for hardware.
  ///   - deviceType: DEVTYPE of the link's `uevent`; `nil`: it says none.
  ///   - hasRadio: Whether it belongs to an 802.11 radio.
  init(hardware: UInt16, software: String, deviceType: String?, hasRadio: Bool) {
    switch hardware {
    case Hardware.loopback: self = .loopback
    case _ where deviceType == "wlan" || hasRadio: self = .wifi
    case _ where deviceType == "wwan" || Self.modems.contains(software): self = .modem
    case _ where Self.tunnels.contains(software): self = .tunnel
    // A modem that was dialled. So is PPP over Ethernet, but no field device drives about with that.
    case Hardware.ppp: self = .modem
    // Bare IP packets: a modem's when there is a device behind, a tunnel's when there is none.
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
