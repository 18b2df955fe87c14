import Foundation

/// Whether a process may send ICMP echo requests, as `ping` does to plain hosts. The pings of a drive are UDP and need no right.
enum EchoRight: Hashable, Sendable {
  /// An echo socket or a raw one can be opened.
  case granted
  /// Neither can be opened; the groups that may open an echo socket, as the kernel writes them: `1 0` is no group.
  case refused(groups: String)
  /// The kernel has no such sockets now, e.g. because all descriptors are in use.
  case unknown(reason: String)

  /// Tried by opening the sockets: the groups, capabilities and a sandbox each can decide.
  static var ofThisProcess: EchoRight {
    // The datagram socket needs a group of ping_group_range, the raw one CAP_NET_RAW.
    let kinds = [CInt(SOCK_DGRAM.rawValue), CInt(SOCK_RAW.rawValue)]
    var refusal: CInt = 0
    for kind in kinds {
      let descriptor = socket(AF_INET, kind | CInt(SOCK_CLOEXEC.rawValue), CInt(IPPROTO_ICMP))
      guard descriptor < 0 else {
        close(descriptor)
        return .granted
      }
      refusal = errno
    }
    guard refusal == EACCES || refusal == EPERM else { return .unknown(reason: String(cString: strerror(refusal))) }
    let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ping_group_range", encoding: .utf8)
    // The kernel writes a tab between both numbers.
    return .refused(groups: (range ?? "unknown").split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }

  /// Never worse than a note, because drives need no such right.
  var finding: Finding {
    switch self {
    case .granted: Finding(.good, .host, "ICMP pings are permitted")
    case .refused(let groups):
      Finding(
        .note, .host,
        "`ping` without --udp is not permitted: net.ipv4.ping_group_range is \(groups); drives are not affected",
        advice: "sysctl -w net.ipv4.ping_group_range=\"0 2147483647\", or run `ping` with CAP_NET_RAW")
    case .unknown(let reason): Finding(.note, .host, "whether ICMP pings are permitted is unknown: \(reason)")
    }
  }
}
