import Coverage

/// Detects that pings leave by another interface or with another source address than before. A pure value.
///
/// An outage between two readings is not a change if interface and address are the same afterwards. Ways to different hosts are not
/// compared. Readings of Wi-Fi are ignored, because no pings are sent there.
public struct WayWatch: Hashable, Sendable {
  private var last: Way?
  private var wasBlocked = false

  /// A watch without a reading.
  public init() {}

  /// The source address of the last way that counted; `nil` when there is none.
  public var address: String? { last?.address }

  /// Applies a reading.
  /// - Returns: Whether its interface or source address differs from the last one's, or its network has the other IP version only than
  ///   the pinged host or its link leads nowhere, unlike before.
  public mutating func hasChanged(_ reading: PathReading) -> Bool {
    let isBlocked = reading.noWay == .otherFamily || reading.noWay == .deadEnd
    defer { wasBlocked = isBlocked }
    if isBlocked, !wasBlocked, reading.path != .wifi { return true }
    guard reading.path == .cellular, let way = reading.way else { return false }
    defer { last = way }
    guard let last, last.destination == way.destination else { return false }
    return last != way
  }
}

/// Notices that the interface of the modem by which the route left is gone. A modem that resets or is pulled out takes its interface along: then a missing
/// route says nothing about coverage, until there is a route again. A pure value.
struct LinkWatch {
  /// Whether any link counts as a modem's, because the operator declares it.
  let isDeclared: Bool
  private var last: Link?

  init(isDeclared: Bool) { self.isDeclared = isDeclared }

  /// The reading, with what happened to the last link as the reason for a missing route.
  /// - Parameter exists: Whether there is an interface with a number.
  mutating func judged(_ reading: PathReading, exists: (UInt32) -> Bool) -> PathReading {
    if let link = reading.link { last = isDeclared || link.kind == .modem ? link : nil }
    guard reading.noWay == .noRoute, reading.link == nil, let last, let index = last.index, !exists(index) else {
      return reading
    }
    return .gone(last.interface)
  }
}
