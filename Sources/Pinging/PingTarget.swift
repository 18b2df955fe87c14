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
  }

  public var address: PingAddress
  public var echo: Echo
  /// Pings leave by this interface or not at all; `nil`: the routing table decides.
  public var interface: String?
  /// From ping to ping; at least 1 ms.
  public var interval: Duration
  public var timeout: Duration
  /// How many pings; 0: until it is stopped.
  public var count: UInt64

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
    case .rtr(let token):
      target.protocol = CPING_RTR
      withUnsafeMutableBytes(of: &target.token) { $0.copyBytes(from: token.prefix($0.count)) }
    }
    withUnsafeMutableBytes(of: &target.interface_name) { name in
      name.copyBytes(from: (interface ?? "").utf8.prefix(name.count - 1))
    }
    target.interval_ns = UInt64(max(0, interval.inNanoseconds))
    target.timeout_ns = UInt64(max(0, timeout.inNanoseconds))
    target.count = count
    return target
  }
}
