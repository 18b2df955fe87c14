import Coverage
import Foundation

/// The device's position, radio and drive during a test. Sources write it, tests read it.
public final class TestSurroundings: @unchecked Sendable {
  private let lock = NSLock()
  private var fix: (fix: Fix, at: ContinuousClock.Instant)?
  private var reading: RadioReading?
  private var drive: Int64?
  private var track: [(fix: Fix, at: ContinuousClock.Instant)]?

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

  /// The drive that is being recorded; `nil` for none.
  public func note(drive: Int64?) { lock.withLock { self.drive = drive } }

  var radio: RadioReading? { lock.withLock { reading } }

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

  /// Begins to collect positions.
  func beginTrack() { lock.withLock { track = fix.map { [$0] } ?? [] } }

  /// The positions since ``beginTrack()``.
  func endTrack() -> [(fix: Fix, at: ContinuousClock.Instant)] {
    lock.withLock {
      defer { track = nil }
      return track ?? []
    }
  }
}
