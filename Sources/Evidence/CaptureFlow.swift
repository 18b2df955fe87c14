import CPinger
import Glibc

/// Packets of the probe's own: requests to a host, its replies, and ICMP errors that quote such a request.
public struct CaptureFlow: Hashable, Sendable {
  public enum Echo: Hashable, Sendable {
    /// RTR's UDP ping from this port of ours; `nil`: any, as long as it is not known.
    case udp(localPort: UInt16?)
    /// ICMP or ICMPv6 echo with this identifier; `nil`: any.
    case icmp(identifier: UInt16?)
  }

  public var echo: Echo
  /// A numeric address.
  public var host: String
  /// The host's UDP port; of no meaning for ICMP.
  public var port: UInt16

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
    guard cping_address_parse(&flow.remote, host, flow.protocol == CPING_ICMP ? 0 : port) == 0 else {
      throw CaptureError(code: -EINVAL, description: "packets cannot be captured: \(host) is no numeric address")
    }
    return flow
  }
}

/// Why packets cannot be captured.
public struct CaptureError: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  public let code: CInt
  /// One sentence that says what is missing.
  public let description: String
}
