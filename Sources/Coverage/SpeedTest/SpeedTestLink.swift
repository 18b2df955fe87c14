/// The link that carried a speed test, or a part of it.
public struct SpeedTestLink: Hashable, Sendable, Codable {
  /// What a link is. The raw values are stored and exported.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A modem's, or one that `network.source` declares as such.
    case cellular
    /// An 802.11 radio.
    case wifi
    /// A cable, or a modem that looks like one and is not declared.
    case ethernet
    /// A tunnel; the link below it is not known.
    case vpn
    /// The server is on this host. Counts as cellular, so that a trial on one host needs no settings.
    case loopback
    /// Any other kind.
    case other

    /// Whether figures of this link are those of a mobile network.
    public var isCellular: Bool { self == .cellular || self == .loopback }

    /// The name for people.
    public var name: String {
      switch self {
      case .cellular: "mobile network"
      case .wifi: "Wi-Fi"
      case .ethernet: "Ethernet"
      case .vpn: "VPN"
      case .loopback: "this host"
      case .other: "other link"
      }
    }
  }

  /// What it is.
  public let kind: Kind
  /// The name of the interface; `nil` when `network.source` declares the kind and there was no route.
  public let interface: String?
  /// The source address; `nil` when the kernel gives none.
  public let address: String?
  /// The name of the Wi-Fi network; `nil` on other links, and when it is not known.
  public let ssid: String?
  /// From when on it carried the test, ns since the start of the test.
  public let since: Int64

  /// A link with the given values.
  public init(kind: Kind, interface: String?, address: String? = nil, ssid: String? = nil, since: Int64 = 0) {
    (self.kind, self.interface, self.address, self.ssid, self.since) = (kind, interface, address, ssid, since)
  }

  /// Whether packets leave in the same way. A name that is not known is no other network.
  public func isSame(as other: SpeedTestLink) -> Bool {
    kind == other.kind && interface == other.interface && address == other.address
      && (ssid == other.ssid || ssid == nil || other.ssid == nil)
  }
}

extension [SpeedTestLink] {
  /// The kind of all links; `nil` without any, and when they differ.
  public var kind: SpeedTestLink.Kind? { Set(map(\.kind)).count == 1 ? first?.kind : nil }

  /// The name of the Wi-Fi network that carried the whole test.
  public var ssid: String? { Set(map(\.ssid)).count == 1 ? first?.ssid : nil }

  /// Whether the test can have figures of one mobile network: no part of it was on another link. True for a test whose link is not known.
  public var isCellular: Bool { allSatisfy(\.kind.isCellular) }

  /// For people: `Wi-Fi`, or of a test whose kind of link changed `changed link`; `nil` for a mobile network and an unknown link.
  public var otherName: String? { isCellular ? nil : kind?.name ?? "changed link" }

  /// The kind in exports; `mixed` when the links are of several kinds.
  public var word: String { kind?.rawValue ?? "mixed" }

  /// The interfaces in their order; `nil` without any. An interface whose address changed is listed once.
  public var interfaces: String? {
    let names = compactMap(\.interface).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }

  /// One line: `wlan0, Wi-Fi`, with all links of a test whose link changed.
  public var text: String {
    enumerated().map { index, link in
      let name = [link.interface, link.kind.name].compactMap { $0 }.joined(separator: ", ")
      return index == 0 ? name : "\(name) after \(link.since / 1_000_000_000) s"
    }.joined(separator: "; ")
  }
}

/// Whether control connections to QoS servers use TLS (`speedtest.qos-tls`): the control server's answer does not say.
public enum QoSEncryption: String, Hashable, Sendable, CaseIterable {
  /// TLS, which public servers use. When a server answers the handshake with another protocol, the connection is opened again without TLS; an
  /// attacker on the way can force this.
  case auto
  /// TLS only: with a server that lacks it, the tests that need this server fail.
  case always
  /// No TLS.
  case never
}
