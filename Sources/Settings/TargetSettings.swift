import Coverage
import Pinging

/// `pings.target` in the configuration: a host that a drive pings without a control server.
public struct TargetSettings: Hashable, Sendable {
  /// A name or a numeric address; `nil`: the control server names the host.
  public var host: String?
  /// The UDP port, 1 to 65535; `nil` for ICMP.
  public var port: Int?
  /// How it is pinged.
  public var kind = DriveTarget.Kind.icmp
  /// The path of a file whose first line is the secret that the tokens of RTR pings are made with.
  public var secretFile: String?

  /// The target; `nil` without a host.
  public var target: DriveTarget? {
    host.map { DriveTarget(kind, host: $0, port: port.flatMap(UInt16.init(exactly:))) }
  }

  /// Why the values do not go together, in one line that names the keys; `nil` when they do.
  /// - Parameter family: `pings.ip-version`.
  func contradiction(family: IPVersion?) -> String? {
    guard let host else {
      // Each would have no effect, and the drive would go to the control server's ping server.
      let others = [("port", port != nil), ("protocol", kind != .icmp), ("secret-file", secretFile != nil)]
      let key = others.first { $0.1 }.map { "pings.target.\($0.0)" }
      return key.map { "\($0) is set, but pings.target.host is not: set it, or remove \($0)" }
    }
    let kind = "pings.target.protocol is \(kind.rawValue)"
    switch (self.kind, port) {
    case (.icmp, let port?):
      return "pings.target.port is \(port), but \(kind), which has no ports: remove pings.target.port"
    case (.udpEcho, nil), (.rtr, nil): return "\(kind), but pings.target.port is not set: set it"
    default: break
    }
    if self.kind == .rtr, secretFile == nil {
      return "\(kind), but pings.target.secret-file is not set: name a file with the secret of the target"
    }
    if self.kind != .rtr, secretFile != nil {
      return "pings.target.secret-file is set, but \(kind), which has no secret: remove pings.target.secret-file"
    }
    guard let family, let address = PingAddress(numeric: host, port: 0), address.family != family else { return nil }
    return "pings.ip-version is \(family.rawValue), but pings.target.host is the \(family.other) address \(host)"
  }
}
