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

  /// The keys of the group.
  static let keys = ["host", "port", "protocol", "secret-file"].map { "pings.target.\($0)" }

  /// Why the values do not go together, in one line that names the keys; `nil` when they do.
  /// - Parameters:
  ///   - isSet: The keys that a file or the environment sets.
  ///   - family: `pings.ip-version`.
  func contradiction(isSet: Set<String>, family: IPVersion?) -> String? {
    guard let host else {
      let key = Self.keys.dropFirst().first { isSet.contains($0) }
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

extension Setting {
  /// Each drive reads them at its start.
  static var target: [Setting] {
    [
      optional(
        Words(
          key: "pings.target.host", type: "text", expects: "a name or an address", reload: .nextDrive,
          effect:
            "a host to ping instead of the control server's ping server: drives need no control server then, and are "
            + "[kept here and never submitted](first-drive.md)"),
        \.pings.target.host, host),
      optional(
        Words(
          key: "pings.target.port", type: "port", range: "1 to 65535", expects: "a port, 1 to 65535",
          reload: .nextDrive,
          effect: "its UDP port; for `udp-echo` and `rtr`, which need one"),
        \.pings.target.port
      ) { text in Int(text).flatMap { (1...65_535).contains($0) ? $0 : nil } },
      required(
        Words(
          key: "pings.target.protocol", type: "icmp, udp-echo, rtr", expects: "icmp, udp-echo or rtr",
          reload: .nextDrive,
          effect:
            "how it is pinged: `icmp`: echo requests, which most hosts answer; `udp-echo`: RFC 862; `rtr`: RTR's UDP ping, "
            + "as `coverage-probe-reflector` answers it"),
        \.pings.target.kind, shown: { $0.rawValue }, DriveTarget.Kind.init(rawValue:)),
      optional(
        Words(
          key: "pings.target.secret-file", type: "path", expects: "a path", reload: .nextDrive,
          effect: "a file whose first line is the secret that the target shares; for `rtr`, which needs one"),
        \.pings.target.secretFile, path
      ).withPath(),
    ]
  }

  /// `nil` for a text that is neither a name nor an address: a port or a scheme in it would be looked up as a part of the name.
  private static func host(_ text: String) -> String? {
    if PingAddress(numeric: text, port: 0) != nil { return text }
    let isName = (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    return isName && !text.contains(where: { ":/@[]?#%".contains($0) }) ? text : nil
  }
}
