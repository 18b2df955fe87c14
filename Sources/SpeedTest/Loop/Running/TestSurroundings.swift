import Coverage
import Foundation
import Networking

/// The device's position, radio, link and drive during a test. Sources write it, tests read it.
public final class TestSurroundings: @unchecked Sendable {
  private let lock = NSLock()
  private var fix: (fix: Fix, at: ContinuousClock.Instant)?
  private var reading: RadioReading?
  private var drive: Int64?
  private var path: PathReading?
  private var track: [(fix: Fix, at: ContinuousClock.Instant)]?
  private var links: (track: LinkTrack, began: ContinuousClock.Instant)?

  /// A position older than this is no place of a test.
  private static let longestAge = Duration.seconds(10)
  /// Positions of one test; a receiver gives up to ten a second.
  private static let mostPlaces = 500

  /// Nothing is known.
  public init() {}

  /// A position, or ``Coverage/Fix/lost``.
  public func note(_ fix: Fix, at instant: ContinuousClock.Instant) {
    lock.withLock {
      self.fix = fix.coordinate == nil ? nil : (fix, instant)
      if fix.coordinate != nil, (track?.count ?? .max) < Self.mostPlaces { track?.append((fix, instant)) }
    }
  }

  /// The modem's state.
  public func note(_ reading: RadioReading) { lock.withLock { self.reading = reading } }

  /// The route of the tests.
  public func note(_ path: PathReading) {
    lock.withLock {
      self.path = path
      if let began = links?.began { links?.track.note(path, at: (.now - began).inNanoseconds) }
    }
  }

  /// The drive that is being recorded; `nil` for none.
  public func note(drive: Int64?) { lock.withLock { self.drive = drive } }

  var radio: RadioReading? { lock.withLock { reading } }

  /// Whether the tests' route leaves by a link that is not a mobile network's.
  var isOnOtherLink: Bool { lock.withLock { path }.map { $0.path == .wifi } ?? false }

  var runningDrive: Int64? { lock.withLock { drive } }

  /// The latest position, if it is not too old.
  func place(at now: ContinuousClock.Instant) -> (fix: Fix, age: Duration)? {
    lock.withLock { fix.map { ($0.fix, now - $0.at) } }.flatMap { $0.age <= Self.longestAge ? $0 : nil }
  }

  /// Waits until a position and the modem's state are known.
  public func waitUntilKnown(atMost limit: Duration) async {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, !Task.isCancelled, place(at: .now) == nil || radio == nil {
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Begins to collect positions and links.
  func beginTrack() {
    lock.withLock {
      track = fix.map { [$0] } ?? []
      links = (LinkTrack(), .now)
      if let path { links?.track.note(path, at: 0) }
    }
  }

  /// The positions and links since ``beginTrack()``.
  func endTrack() -> (places: [(fix: Fix, at: ContinuousClock.Instant)], links: [SpeedTestLink]) {
    lock.withLock {
      defer { (track, links) = (nil, nil) }
      return (track ?? [], links?.track.links ?? [])
    }
  }
}

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
