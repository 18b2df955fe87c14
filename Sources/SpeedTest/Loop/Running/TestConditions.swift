import Coverage
import Networking
import Synchronization

/// The device's position, radio, link and drive during a test. Sources write it, tests read it.
public final class TestConditions: Sendable {
  private struct Known {
    var fix: (fix: Fix, at: ContinuousClock.Instant)?
    var reading: RadioReading?
    var drive: Int64?
    var path: PathReading?
    var track: [(fix: Fix, at: ContinuousClock.Instant)]?
    var links: (track: LinkTrack, began: ContinuousClock.Instant)?
    var tested: RadioReading?
  }

  private let known = Mutex(Known())

  /// A position older than this is no place of a test.
  private static let longestAge = Duration.seconds(10)
  /// Positions of one test; a receiver gives up to ten a second.
  private static let mostPlaces = 500

  public init() {}

  /// A position, or ``Coverage/Fix/lost``.
  public func note(_ fix: Fix, at instant: ContinuousClock.Instant) {
    known.withLock { known in
      known.fix = fix.coordinate == nil ? nil : (fix, instant)
      if fix.coordinate != nil, (known.track?.count ?? .max) < Self.mostPlaces { known.track?.append((fix, instant)) }
    }
  }

  /// The modem's state.
  public func note(_ reading: RadioReading) {
    known.withLock { known in
      known.reading = reading
      if reading.technology != nil || known.tested?.technology == nil { known.tested = reading }
    }
  }

  /// The route of the tests.
  public func note(_ path: PathReading) {
    known.withLock { known in
      known.path = path
      if let began = known.links?.began { known.links?.track.note(path, at: (.now - began).inNanoseconds) }
    }
  }

  /// The drive that is being recorded; `nil` for none.
  public func note(drive: Int64?) { known.withLock { $0.drive = drive } }

  var radio: RadioReading? { known.withLock { $0.reading } }

  /// Whether the tests' route leaves by a link that is not a mobile network's.
  var isOnOtherLink: Bool { known.withLock { $0.path }.map { $0.path == .wifi } ?? false }

  var runningDrive: Int64? { known.withLock { $0.drive } }

  /// The latest position, if it is not too old.
  func place(at now: ContinuousClock.Instant) -> (fix: Fix, age: Duration)? {
    known.withLock { $0.fix }.map { ($0.fix, now - $0.at) }.flatMap { $0.age <= Self.longestAge ? $0 : nil }
  }

  /// Waits until a position and the modem's state are known.
  public func waitUntilKnown(atMost limit: Duration) async {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end, !Task.isCancelled, place(at: .now) == nil || radio == nil {
      try? await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Begins to collect positions, links and the modem's state.
  func beginTrack() {
    known.withLock { known in
      known.tested = known.reading
      known.track = known.fix.map { [$0] } ?? []
      known.links = (LinkTrack(), .now)
      if let path = known.path { known.links?.track.note(path, at: 0) }
    }
  }

  /// The positions, the links and the reading of the modem since ``beginTrack()``.
  func endTrack() -> Track {
    known.withLock { known in
      defer { (known.track, known.links) = (nil, nil) }
      return Track(places: known.track ?? [], links: known.links?.track.links ?? [], radio: known.tested)
    }
  }

  /// Where and over what a test was made.
  struct Track {
    let places: [(fix: Fix, at: ContinuousClock.Instant)]
    let links: [SpeedTestLink]
    /// The last reading with a technology: under load, 5G non-standalone shows, and an idle modem may tell its LTE anchor only. All radio
    /// values of a test are from this one.
    let radio: RadioReading?
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
      links = [SpeedTestLink(kind: link.kind, interface: link.interface, address: link.address, ssid: link.ssid)]
    } else if let last = links.last, last.isSame(as: link) || reading.way == nil && last.kind == link.kind {
      // A declared kind without a route: nothing shows another link.
    } else if links.count < Self.most {
      links.append(link)
    }
  }
}
