import Coverage
import Pinging

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
      choice(
        "pings.target.protocol", \.pings.target.kind, .nextDrive,
        "how it is pinged: `icmp`: echo requests, which most hosts answer; `udp-echo`: RFC 862; `rtr`: RTR's UDP ping, "
          + "as `coverage-probe-reflector` answers it"),
      path(
        "pings.target.secret-file", \.pings.target.secretFile, .nextDrive,
        "a file whose first line is the secret that the target shares; for `rtr`, which needs one"),
    ]
  }

  /// `nil` for a text that is neither a name nor an address: a port or a scheme in it would be looked up as a part of the name.
  private static func host(_ text: String) -> String? {
    if PingAddress(numeric: text, port: 0) != nil { return text }
    let isName = (1...253).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    return isName && !text.contains(where: { ":/@[]?#%".contains($0) }) ? text : nil
  }
}
