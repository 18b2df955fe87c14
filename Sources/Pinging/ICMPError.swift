import Coverage

/// An ICMP error in words (RFC 792, 1191, 1812, 4443, 4884).
struct ICMPError: Hashable, Sendable, CustomStringConvertible {
  let family: IPVersion
  let type: UInt8, code: UInt8
  /// Of an error about a packet that is too big: the MTU of the link that it did not fit, in bytes; `nil`: not reported.
  let mtu: UInt32?

  init(_ family: IPVersion, type: UInt8, code: UInt8, mtu: UInt32? = nil) {
    (self.family, self.type, self.code, self.mtu) = (family, type, code, mtu)
  }

  /// Whether the packet passed as many routers as its TTL or hop limit allows.
  var isTTLExceeded: Bool { code == 0 && type == (family == .ipv4 ? 11 : 3) }

  var description: String { "\(words) (ICMP\(family == .ipv6 ? "v6" : "") type \(type) code \(code))" }

  private var words: String {
    let known = family == .ipv4 ? Self.words4[Key(type, code)] : Self.words6[Key(type, code)]
    let text = known ?? (family == .ipv4 ? Self.kinds4[type] : Self.kinds6[type]) ?? "an error"
    return text + (mtu.map { ", the MTU is \($0) bytes" } ?? "")
  }

  private struct Key: Hashable {
    let type: UInt8, code: UInt8

    init(_ type: UInt8, _ code: UInt8) { (self.type, self.code) = (type, code) }
  }

  private static let kinds4: [UInt8: String] = [
    3: "unreachable", 11: "the time was exceeded", 12: "a parameter of the packet is wrong",
  ]
  private static let kinds6: [UInt8: String] = [
    1: "unreachable", 2: "too big for a link on the way", 3: "the time was exceeded",
    4: "a parameter of the packet is wrong",
  ]

  private static let words4: [Key: String] = [
    Key(3, 0): "network unreachable", Key(3, 1): "host unreachable", Key(3, 2): "protocol unreachable",
    Key(3, 3): "port unreachable", Key(3, 4): "too big for a link on the way, and must not be fragmented",
    Key(3, 5): "source route failed", Key(3, 6): "network unknown", Key(3, 7): "host unknown",
    Key(3, 9): "network prohibited", Key(3, 10): "host prohibited", Key(3, 11): "network unreachable for this service",
    Key(3, 12): "host unreachable for this service", Key(3, 13): "prohibited by a filter",
    Key(11, 0): "TTL exceeded", Key(11, 1): "not all fragments arrived",
  ]
  private static let words6: [Key: String] = [
    Key(1, 0): "no route to it", Key(1, 1): "prohibited by a filter", Key(1, 2): "beyond the scope of the source",
    Key(1, 3): "address unreachable", Key(1, 4): "port unreachable", Key(1, 5): "the source address is prohibited",
    Key(1, 6): "the route rejects it", Key(2, 0): "too big for a link on the way", Key(3, 0): "hop limit exceeded",
    Key(3, 1): "not all fragments arrived",
  ]
}

extension PingEvent {
  /// The ICMP error in words, with type and code; `nil` for other events.
  public var icmpText: String? { icmpError.map { "\($0)" } }

  /// Whether a router dropped the ping because its TTL or hop limit was used up.
  public var isTTLExceeded: Bool { icmpError?.isTTLExceeded == true }

  private var icmpError: ICMPError? {
    guard case .icmpError(let type, let code) = kind else { return nil }
    return ICMPError(from?.family ?? .ipv4, type: type, code: code, mtu: mtu)
  }
}
