import CPinger
import Coverage

/// Something to ping, and how.
public struct PingTarget: Hashable, Sendable {
  public typealias ID = Int64

  public enum Echo: Hashable, Sendable {
    /// RTR's UDP ping with the 16 bytes of a ping token (spec 3.1).
    case rtr(token: [UInt8])
    /// ICMP or ICMPv6 echo.
    case icmp
    /// UDP to a reflector that adds its own stamps and counters (docs/one-way-format.md).
    case oneWay
  }

  /// The kind of socket that ICMP echoes leave by.
  public enum Socket: Hashable, Sendable {
    /// Datagram, and raw where that is not permitted.
    case any
    /// Needs a group in `net.ipv4.ping_group_range`.
    case datagram
    /// Needs CAP_NET_RAW.
    case raw
  }

  public var address: PingAddress
  public var echo: Echo
  /// Of ICMP only.
  public var socket = Socket.any
  /// Pings leave by this interface or not at all; `nil`: the routing table decides.
  public var interface: String?
  /// From ping to ping; at least 1 ms. When flooding: the least time between two on average.
  public var interval: Duration
  public var timeout: Duration
  /// How many pings; 0: until it is stopped.
  public var count: UInt64
  /// The interface or source address need not be there yet; until it is, pings are not sent.
  public var awaitsInterface = false
  /// As fast as answers come in, with so many pings under way at most; `nil`: on a grid of ``interval``.
  public var floodWindow: UInt32?
  /// ICMP: bytes after the echo header, 12 to 65507. One-way: the whole datagram, 72 to 65507. `nil`: the format's own.
  public var size: UInt16?
  /// Forbids fragmentation, and ignores the path MTU that the kernel remembers.
  public var isFragmentationForbidden = false
  /// TTL or hop limit; `nil`: the host's.
  public var hopLimit: UInt8?
  /// The whole traffic class byte, DSCP times four.
  public var trafficClass: UInt8 = 0
  /// For policy routing; 0: none.
  public var mark: UInt32 = 0
  /// Pings carry this address or are not sent; `nil`: the kernel chooses.
  public var source: PingAddress?

  public init(
    address: PingAddress, echo: Echo, interface: String? = nil, interval: Duration = .milliseconds(100),
    timeout: Duration = .seconds(1), count: UInt64 = 0
  ) {
    self.address = address
    self.echo = echo
    self.interface = interface
    self.interval = interval
    self.timeout = timeout
    self.count = count
  }

  var raw: cping_target {
    var target = cping_target()
    target.destination = address.raw
    switch echo {
    case .icmp: target.protocol = CPING_ICMP
    case .oneWay: target.protocol = CPING_ONEWAY
    case .rtr(let token):
      target.protocol = CPING_RTR
      withUnsafeMutableBytes(of: &target.token) { $0.copyBytes(from: token.prefix($0.count)) }
    }
    target.socket =
      switch socket {
      case .any: CPING_SOCKET_AUTO
      case .datagram: CPING_SOCKET_DATAGRAM
      case .raw: CPING_SOCKET_RAW
      }
    withUnsafeMutableBytes(of: &target.interface_name) { name in
      name.copyBytes(from: (interface ?? "").utf8.prefix(name.count - 1))
    }
    target.interval_ns = UInt64(max(0, interval.inNanoseconds))
    target.timeout_ns = UInt64(max(0, timeout.inNanoseconds))
    target.count = count
    target.flags = flags
    target.window = floodWindow ?? 0
    target.size = size ?? 0
    target.ttl = hopLimit ?? 0
    target.traffic_class = trafficClass
    target.mark = mark
    if let source { target.source = source.raw }
    return target
  }

  private var flags: UInt32 {
    var flags: UInt32 = 0
    if floodWindow != nil { flags |= CPING_TARGET_FLOOD.rawValue }
    if isFragmentationForbidden { flags |= CPING_TARGET_DONT_FRAGMENT.rawValue }
    if awaitsInterface { flags |= CPING_TARGET_AWAIT.rawValue }
    return flags
  }
}

/// What a target is at.
public struct PingTargetState: Hashable, Sendable {
  /// UDP: our port. ICMP: the echo identifier.
  public let localPort: UInt16
  /// Pings so far, those that were not sent included.
  public let slots: UInt64
  /// Pings without a verdict yet.
  public let underWay: UInt64
}
