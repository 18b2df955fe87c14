import Coverage

/// What kind of link carries the pings at one moment, and what tells so.
///
/// With `network.source: auto` only a modem's link counts as cellular. Any other link is none of the mobile network's, as far as
/// can be told, and counts as Wi-Fi does: nothing that was measured on it may pass for mobile coverage (spec 9). An operator who
/// knows that a modem is behind it says so. Loopback is measured: there is no network that could be mistaken for a mobile one,
/// and a trial on one host needs no settings.
public struct PathReading: Hashable, Sendable {
  public let path: Path
  /// The link that the route leaves by; `nil` without a route, and where `network.source` tells its kind.
  public let link: Link?
  /// How pings leave, whichever kind of link that is; `nil` without a route.
  public let way: Way?
  /// Why there is no link.
  private let reason: String

  /// Told by the configuration.
  /// - Parameter way: What the route says beside it.
  init(fixed path: Path, way: Way? = nil) {
    self.init(path: path, link: nil, way: way, reason: "\(path.rawValue), as network.source says")
  }

  /// Told by the route.
  init(link: Link, way: Way? = nil) {
    let path: Path =
      switch link.kind {
      case _ where !link.isRunning: .offline
      case .modem, .loopback: .cellular
      case .wifi, .ethernet, .tunnel, .other: .wifi
      }
    self.init(path: path, link: link, way: way, reason: "")
  }

  static func missing(interface: String) -> PathReading {
    PathReading(path: .offline, link: nil, way: nil, reason: "none, there is no interface \(interface)")
  }

  static func noRoute(to destination: String?, by interface: String?) -> PathReading {
    let way = (destination.map { " to \($0)" } ?? "") + (interface.map { " by \($0)" } ?? "")
    return PathReading(path: .offline, link: nil, way: nil, reason: "none, there is no route\(way)")
  }

  static func unknown(_ failure: KernelFailure) -> PathReading {
    PathReading(path: .offline, link: nil, way: nil, reason: "none, the kernel does not tell the route: \(failure)")
  }

  private init(path: Path, link: Link?, way: Way?, reason: String) {
    (self.path, self.link, self.way, self.reason) = (path, link, way, reason)
  }

  /// Whether a declaration of the operator's would let this link be measured.
  var wantsDeclaration: Bool {
    guard path == .wifi, let link else { return false }
    return link.kind != .wifi
  }
}

extension PathReading: CustomStringConvertible {
  /// One line for the log, without a full stop.
  public var description: String {
    guard let link else {
      return path == .cellular ? reason + (way.map { ", by \($0.interface)" } ?? "") + origin : reason
    }
    let leaving = "the route leaves by \(link.interface), \(link.kind)"
    switch path {
    case .offline: return "none, \(leaving) without a carrier"
    case .wifi where wantsDeclaration:
      return "\(leaving): counted as not cellular; set network.source: fixed-cellular if it is a modem's"
    case .wifi, .cellular: return "\(path.rawValue), \(leaving)\(origin)"
    }
  }

  private var origin: String { way?.address.map { ", from \($0)" } ?? "" }

  /// Why nothing is measured, in a few words for a status line; `nil` when the link is measured.
  public var obstacle: String? {
    guard path == .wifi else { return nil }
    guard let link, wantsDeclaration else { return "on Wi-Fi, not measuring" }
    return "on \(link.interface), \(link.kind), not measuring"
  }

  /// Why nothing was measured, and what to do about it, for a line after a drive; `nil` when the link is measured.
  public var remedy: String? {
    guard path == .wifi else { return nil }
    guard let link else { return "network.source says that it is on Wi-Fi" }
    let way = "the route left by \(link.interface), \(link.kind)"
    guard wantsDeclaration else { return way }
    return "\(way), which counts as Wi-Fi; set network.source: fixed-cellular if it is a modem's"
  }
}
