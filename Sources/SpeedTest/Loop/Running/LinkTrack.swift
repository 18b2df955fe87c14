import Coverage
import Networking

/// The links that carry a test, from readings of the route to its server. A pure value.
public struct LinkTrack: Hashable, Sendable {
  /// In order; empty before the first reading with a network.
  public private(set) var links: [SpeedTestLink] = []
  private var destination: String?
  /// A route that changes back and forth is told by its first changes.
  private static let most = 20

  /// A track without a reading.
  public init() {}

  /// Applies a reading. An outage is no change if the link is the same afterwards. Routes to different hosts are not compared: the newest
  /// destination is that of the test, because a name was looked up meanwhile.
  /// - Parameter offset: ns since the start of the test.
  public mutating func note(_ reading: PathReading, at offset: Int64) {
    guard let link = reading.testLink(since: links.isEmpty ? 0 : offset) else { return }
    if let way = reading.way, way.destination != destination {
      destination = way.destination
      links = [SpeedTestLink(kind: link.kind, interface: link.interface, address: link.address)]
    } else if let last = links.last, last.isSame(as: link) || reading.way == nil && last.kind == link.kind {
      // A declared kind without a route: nothing shows another link.
    } else if links.count < Self.most {
      links.append(link)
    }
  }
}
