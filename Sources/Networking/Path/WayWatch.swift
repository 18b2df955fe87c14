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
