import CPinger
import Coverage
import Glibc

/// A packet of a capture.
public struct CapturedPacket: Sendable {
  /// Nanoseconds since the Unix epoch, on CLOCK_REALTIME of the host that captured it.
  public let stamp: Int64
  /// The type of the link's header, a DLT_ value of libpcap.
  let linkType: UInt16
  /// The captured bytes; a capture can cut packets off.
  let bytes: Bytes
}

/// Why packets cannot be captured.
public struct CaptureError: Error, Hashable, CustomStringConvertible {
  /// A negative errno.
  public let code: CInt
  /// The missing privilege or resource, in one sentence.
  public let description: String
}

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

/// An IPv4 or IPv6 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64
  let isSix: Bool

  /// The address in 4 or 16 bytes; `nil` for another number of bytes.
  init?(_ bytes: Bytes?) {
    guard let bytes else { return nil }
    if bytes.count == 4, let low = bytes.u32(0) {
      (high, self.low, isSix) = (0, UInt64(low), false)
    } else if bytes.count == 16, let high = bytes.u64(0), let low = bytes.u64(8) {
      (self.high, self.low, isSix) = (high, low, true)
    } else {
      return nil
    }
  }

  /// The address in numbers, e.g. `192.0.2.1`; for IPv6 without `::`.
  public var description: String {
    guard isSix else { return (0..<4).map { String(low >> (24 - 8 * UInt64($0)) & 0xFF) }.joined(separator: ".") }
    return [high, low].flatMap { half in (0..<4).map { String(half >> (48 - 16 * UInt64($0)) & 0xFFFF, radix: 16) } }
      .joined(separator: ":")
  }
}
