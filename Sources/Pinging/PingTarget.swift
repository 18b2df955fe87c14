import CPinger
import Coverage

/// A host to ping, with the settings of its pings.
public struct PingTarget: Hashable, Sendable {
  /// The number of a target within its pinger, from 1.
  public typealias ID = Int64

  /// The protocol of the pings.
  public enum Echo: Hashable, Sendable {
    /// RTR's UDP ping with the 16 bytes of a ping token (docs/protocol.md, 1.1).
    case rtr(token: [UInt8])
    /// ICMP or ICMPv6 echo.
    case icmp
    /// UDP to a reflector that adds its own stamps and counters (docs/one-way-format.md).
    case oneWay
    /// UDP to an echo service (RFC 862).
    case udpEcho
  }

  /// The kind of socket for ICMP echo.
  public enum Socket: Hashable, Sendable {
    /// A datagram socket; a raw one if that is not permitted.
    case any
    /// A datagram socket, which needs a group in `net.ipv4.ping_group_range`.
    case datagram
    /// A raw socket, which needs CAP_NET_RAW.
    case raw
  }

  /// The address to which pings go.
  public var address: PingAddress
  /// The protocol of the pings.
  public var echo: Echo
  /// The kind of socket; only for ICMP.
  public var socket = Socket.any
  /// The interface to which pings are bound; `nil`: the routing table decides.
  public var interface: String?
  /// The time from ping to ping, at least 1 ms. In a flood: the shortest mean time from ping to ping.
  public var interval: Duration
  /// The time limit of an answer.
  public var timeout: Duration
  /// The number of pings; 0: until the target is stopped.
  public var count: UInt64
  /// Whether the interface or source address can be absent; while it is, pings are not sent.
  public var awaitsInterface = false
  /// The largest number of pings under way in a flood, which sends as fast as answers come; `nil`: pings on a grid of ``interval``.
  public var floodWindow: UInt32?
  /// ICMP: bytes after the echo header, 12 to 65507. One-way: bytes of the whole datagram, 72 to 65507. UDP echo: the same, 18 to 65507. `nil`: the format's default.
  public var size: UInt16?
  /// Whether fragmentation is forbidden. The path MTU that the kernel has cached is then ignored.
  public var isFragmentationForbidden = false
  /// TTL or hop limit; `nil`: the host's default.
  public var hopLimit: UInt8?
  /// Whether events of replies have their TTL or hop limit.
  public var reportsHopLimit = false
  /// The traffic class byte: DSCP times four, plus the ECN bits.
  public var trafficClass: UInt8 = 0
  /// The mark for policy routing (SO_MARK); 0: none.
  public var mark: UInt32 = 0
  /// The source address of the pings, which are not sent without it; `nil`: the kernel chooses.
  public var source: PingAddress?

  /// A target with the given values and the defaults of the others.
  public init(
    address: PingAddress, echo: Echo, interface: String? = nil, interval: Duration = .milliseconds(100),
    timeout: Duration = .seconds(1), count: UInt64 = 0
  ) {
    (self.address, self.echo, self.interface, self.interval) = (address, echo, interface, interval)
    (self.timeout, self.count) = (timeout, count)
  }

  var raw: cping_target {
    var target = cping_target()
    target.destination = address.raw
    switch echo {
    case .icmp: target.protocol = CPING_ICMP
    case .oneWay: target.protocol = CPING_ONEWAY
    case .udpEcho: target.protocol = CPING_UDP_ECHO
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
    if reportsHopLimit { flags |= CPING_TARGET_REPORT_TTL.rawValue }
    return flags
  }
}
