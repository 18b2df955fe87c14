import CPinger
import Coverage
import Glibc

/// The packets of one target of this probe: requests to a host, its replies, and ICMP errors that quote such a request.
public struct CaptureFlow: Hashable, Sendable {
  /// The protocol, with the number that identifies this host's socket.
  public enum Echo: Hashable, Sendable {
    /// RTR's UDP ping from this local port; `nil`: any port.
    case udp(localPort: UInt16?)
    /// ICMP or ICMPv6 echo with this identifier; `nil`: any identifier.
    case icmp(identifier: UInt16?)
  }

  /// The protocol.
  public var echo: Echo
  /// The numeric address of the host.
  public var host: String
  /// The host's UDP port; ignored for ICMP.
  public var port: UInt16

  /// A flow with the given values.
  public init(_ echo: Echo, host: String, port: UInt16) {
    self.echo = echo
    self.host = host
    self.port = port
  }

  func raw() throws(CaptureError) -> cpcapture_flow {
    var flow = cpcapture_flow()
    switch echo {
    case .udp(let local): (flow.protocol, flow.local) = (CPING_RTR, local ?? 0)
    case .icmp(let identifier): (flow.protocol, flow.local) = (CPING_ICMP, identifier ?? 0)
    }
    // C would read the host up to a zero byte.
    guard !host.utf8.contains(0),
      cping_address_parse(&flow.remote, host, flow.protocol == CPING_ICMP ? 0 : port) == 0
    else {
      throw CaptureError(
        code: -EINVAL, description: "packets cannot be captured: \(ForeignText.clean(host)) is not a numeric address")
    }
    return flow
  }
}
