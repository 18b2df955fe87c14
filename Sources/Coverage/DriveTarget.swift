/// The host that a drive without a control server pings: `pings.target` of the configuration. What such a drive measures stays on this
/// device and is never submitted.
public struct DriveTarget: Hashable, Sendable, CustomStringConvertible {
  /// How it is pinged. The raw values are those of `pings.target.protocol`.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// ICMP or ICMPv6 echo.
    case icmp
    /// Plain UDP echo (RFC 862).
    case udpEcho = "udp-echo"
    /// RTR's UDP ping with a token of a shared secret (docs/protocol.md, 1.2).
    case rtr
  }

  /// How it is pinged.
  public let kind: Kind
  /// A name or a numeric address.
  public let host: String
  /// The UDP port; `nil` for ICMP, which has none.
  public let port: UInt16?

  /// A target with the given values.
  public init(_ kind: Kind, host: String, port: UInt16? = nil) {
    (self.kind, self.host, self.port) = (kind, host, port)
  }

  /// The protocol and the host, e.g. `icmp 192.0.2.1`, `rtr example.org:4440` or `udp-echo [2001:db8::1]:7`.
  public var description: String {
    guard let port else { return "\(kind.rawValue) \(host)" }
    return "\(kind.rawValue) \(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Says in a few words, for an operator, what becomes of the drive.
  public var note: String { "kept here and not submitted: the pings go to \(self)" }
}
