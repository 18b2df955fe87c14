import Coverage

/// The kind of link that carries the pings at one moment, and why it counts as that kind.
///
/// With `network.source: auto` only a modem's link counts as cellular. Every other link counts as Wi-Fi, because nothing shows that a
/// mobile network is behind it, and figures of other networks must not appear as mobile coverage (docs/algorithm.md,
/// 5): with a carrier or without one. An operator who knows that a modem is behind the link declares it in the configuration. Loopback counts as
/// cellular, so that a trial on one host needs no settings.
public struct PathReading: Hashable, Sendable {
  /// The kind of link; it decides whether pings are sent.
  public private(set) var path: Path
  /// The link by which the route leaves; `nil` without a route, and where `network.source` declares the kind.
  public let link: Link?
  /// The interface and address by which pings leave, for every kind of link; `nil` without a route.
  public let way: Way?
  /// Why there is no way to the destination; `nil` when there is one.
  public let noWay: NoWay?
  /// The description where ``link`` is `nil`.
  private let reason: String
  /// Whether `network.source` says it.
  private var isDeclared = false
  /// The destination that the network's IP version does not reach.
  private let unreached: String?

  /// A path that the configuration declares.
  init(fixed path: Path, route: PathReading? = nil) {
    self.init(
      path: path, link: nil, way: route?.way, noWay: route?.noWay ?? (path == .offline ? .noRoute : nil),
      reason: "\(path.rawValue), as network.source says", unreached: route?.unreached)
    isDeclared = true
  }

  /// The path by the link of the current route.
  init(link: Link, way: Way? = nil, unreached: String? = nil) {
    let path: Path =
      switch link.kind {
      case .modem, .loopback: link.isRunning ? .cellular : .offline
      case .wifi, .ethernet, .tunnel, .other: .wifi
      }
    let noWay: NoWay? =
      link.isDeadEnd ? .deadEnd : link.isRunning ? unreached.map { _ in .otherFamily } : .noRoute
    self.init(path: path, link: link, way: way, noWay: noWay, reason: "", unreached: unreached)
  }

  /// The reading where the operator declares the kind of the link: the route still shows whether packets have a way.
  func declared(as path: Path) -> PathReading {
    if noWay == nil || noWay == .otherFamily { return PathReading(fixed: path, route: self) }
    var reading = self
    reading.path = .offline
    return reading
  }

  static func missing(interface: String) -> PathReading {
    missing(interface, "there is no interface \(interface)")
  }

  /// The interface by which the route left is gone, and no route has come since.
  static func gone(_ interface: String) -> PathReading {
    missing(interface, "the interface \(interface) was removed, and no route has come since")
  }

  private static func missing(_ interface: String, _ reason: String) -> PathReading {
    PathReading(
      path: .offline, noWay: .noInterface(isDialled: Link.isDialled(interface)), reason: "none, \(reason)")
  }

  static func noRoute(to destination: String?, by interface: String?) -> PathReading {
    PathReading(path: .offline, noWay: .noRoute, reason: "none, there is no route\(direction(destination, interface))")
  }

  static func forbidden(to destination: String?, by interface: String?) -> PathReading {
    let way = direction(destination, interface)
    return PathReading(path: .offline, noWay: .forbidden, reason: "none, a rule of this host forbids packets\(way)")
  }

  private static func direction(_ destination: String?, _ interface: String?) -> String {
    (destination.map { " to \($0)" } ?? "") + (interface.map { " by \($0)" } ?? "")
  }

  static func unknown(_ failure: KernelFailure) -> PathReading {
    PathReading(path: .offline, noWay: .unknown, reason: "none, the kernel cannot look up the route: \(failure)")
  }

  private init(
    path: Path, link: Link? = nil, way: Way? = nil, noWay: NoWay?, reason: String, unreached: String? = nil
  ) {
    (self.path, self.link, self.way, self.noWay) = (path, link, way, noWay)
    (self.reason, self.unreached) = (reason, unreached)
  }

  /// Whether the link would be measured if the operator declared it as a modem's.
  var wantsDeclaration: Bool {
    guard path == .wifi, let link else { return false }
    return link.kind != .wifi
  }
}

extension PathReading: CustomStringConvertible {
  /// One line for the log, without a full stop.
  public var description: String { line + (unreached.map { ", \(NoWay.otherFamily(than: $0))" } ?? "") }

  private var line: String {
    guard let link else {
      return path == .cellular ? reason + (way.map { ", by \($0.interface)" } ?? "") + origin : reason
    }
    let lack = link.isDeadEnd ? " with nothing behind it" : link.isRunning ? "" : " without a carrier"
    let leaving = "the route leaves by \(link.interface), \(link.kind)\(lack)"
    switch path {
    case .offline: return "none, \(leaving)"
    case .wifi where wantsDeclaration:
      return "\(leaving): counted as not cellular; set network.source: fixed-cellular if it is a modem's"
    case .wifi, .cellular: return "\(path.rawValue), \(leaving)\(origin)"
    }
  }

  private var origin: String { way?.address.map { ", from \($0)" } ?? "" }

  /// Why nothing is measured, or why every ping is lost, in a few words for a status line; `nil` when the link can be measured.
  public var obstacle: String? {
    if noWay == .deadEnd, let interface = way?.interface ?? link?.interface {
      return "\(interface) leads nowhere: on this host, nothing is behind it"
    }
    if let link, !link.isRunning { return "\(link.interface) has no carrier" }
    switch path {
    case .cellular: return unreached.map(NoWay.otherFamily)
    case .offline:
      return isDeclared ? "no network, as network.source says" : String(reason.trimmingPrefix("none, "))
    case .wifi:
      guard let link, wantsDeclaration else { return "on Wi-Fi, not measuring" }
      return "on \(link.interface), \(link.kind), not measuring"
    }
  }

  /// What to do about ``obstacle``; `nil` when there is none.
  public var advice: String? {
    switch (path, noWay) {
    case (_, .deadEnd?): return "start the program that opens it, as a VPN's; give a bridge or bond its port"
    case (.cellular, .otherFamily?): return "use a network with both IP versions, or with NAT64 and its name server"
    case (.cellular, _): return nil
    case (.wifi, _):
      return
        "name the modem's interface in pings.interface, or set network.source: fixed-cellular if this link is a modem's"
    case (.offline, .noInterface?): return "`ip link` lists the interfaces; a modem's may appear once it is connected"
    case (.offline, .forbidden?):
      return "`ip rule` and `ip route show table all` show the route of type prohibit or blackhole; remove it"
    case (.offline, _):
      return "connect the modem: `ip route` must list a default route; without a network, a drive counts pings as lost"
    }
  }

  /// Why nothing was measured, and what to do about it, for a line after a drive; `nil` when the link is measured.
  public var remedy: String? { remedy("left") }

  /// The same while it lasts.
  public var presentRemedy: String? { remedy("leaves") }

  private func remedy(_ verb: String) -> String? {
    guard path == .wifi else { return nil }
    guard let link else { return "network.source says that it is on Wi-Fi" }
    let way = "the route \(verb) by \(link.interface), \(link.kind)"
    guard wantsDeclaration else { return way }
    return "\(way), which counts as Wi-Fi; set network.source: fixed-cellular if it is a modem's"
  }

  /// The link as a speed test stores it; `nil` without a network.
  /// - Parameter since: From when on it carried the test, ns since the start of the test.
  public func testLink(since: Int64) -> SpeedTestLink? {
    guard path != .offline, link?.isRunning != false else { return nil }
    let kind: SpeedTestLink.Kind =
      switch (path, link?.kind) {
      case (.cellular, nil), (_, .modem): .cellular
      case (.wifi, nil), (_, .wifi): .wifi
      case (_, .ethernet): .ethernet
      case (_, .tunnel): .vpn
      case (_, .loopback): .loopback
      case (_, .other), (.offline, nil): .other
      }
    return SpeedTestLink(
      kind: kind, interface: way?.interface ?? link?.interface, address: way?.address, ssid: link?.ssid, since: since)
  }
}
