import CPinger
import Coverage
import Glibc

/// Why the kernel did not send a ping.
public struct SendFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A positive errno of the send call.
  public let code: CInt

  public init(code: CInt) { self.code = code }

  /// What the refusal is about.
  public var refusal: UnsentPing.Refusal {
    switch code {
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, ENODEV, ENXIO, EADDRNOTAVAIL: .noWay
    case ENOBUFS, EAGAIN: .full
    default: .host
    }
  }

  /// The reason in words, with the kernel's own.
  public var description: String { words.map { "\($0) (\(kernel))" } ?? kernel }

  private var kernel: String { String(cString: strerror(code)) }

  private var words: String? {
    switch code {
    case EPERM, EACCES: "the host's firewall or a route of it forbids the ping"
    case ENOBUFS, EAGAIN: "the link takes no packets, its queue is full"
    case ENODEV, ENXIO: "the interface is not there"
    case EADDRNOTAVAIL: "the interface has no address to send from"
    case ENETUNREACH, EHOSTUNREACH: "there is no route"
    case ENETDOWN: "the interface is down"
    case ENOMEM: "the host has no memory for it"
    case EMSGSIZE: "it is too long for this host's own link"
    case EINVAL: "the host's settings drop the ping, as a blackhole route does"
    default: nil
    }
  }

  /// The remedy; `nil` when there is none beside that of the route.
  public var advice: String? {
    switch code {
    case EPERM, EACCES: "let UDP to the ping server leave this host: `nft list ruleset`, `ip route`, `ip rule`"
    case EINVAL: "`ip route` and `ip rule` must not drop packets to the ping server"
    case ENOBUFS, EAGAIN: "look at the modem: `tc -s qdisc show`"
    case EADDRNOTAVAIL: "`ip address` must list an address of the ping server's IP version"
    case ENODEV, ENXIO, ENETDOWN: "`ip link` lists the interfaces; a modem's may appear once it is connected"
    case ENETUNREACH, EHOSTUNREACH: "`ip route get` with the ping server's address shows the missing route"
    default: nil
    }
  }
}
