/// Where a ping counts. Each ping with an outcome has exactly one place, by the moment at which it was sent (docs/algorithm.md, 4).
public enum PingPlace: Hashable, Sendable {
  /// In the fence with this index in ``Engine/fences``.
  case fence(Int)
  /// Outside of all fences: before the first one, between two of different tests, at the moment at which one begins or ends, or while the
  /// position was inaccurate or lost.
  case outside
  /// The drive pauses: the link is Wi-Fi.
  case paused

  var isInFence: Bool { if case .fence = self { true } else { false } }
}

/// Pings by their places.
public struct PingPlaceCounts: Hashable, Sendable {
  /// In a fence.
  public var inFences = 0
  /// Outside of all fences.
  public var outside = 0
  /// On Wi-Fi.
  public var paused = 0

  /// No pings.
  public init() {}

  mutating func count(_ place: PingPlace) {
    switch place {
    case .fence: inFences += 1
    case .outside: outside += 1
    case .paused: paused += 1
    }
  }
}

/// A ping with its place.
public struct PlacedPing: Hashable, Sendable {
  /// When it was sent.
  public let sent: DriveTime
  /// Its outcome.
  public let outcome: PingOutcome
  /// Where it counts.
  public let place: PingPlace
}

/// The pings of a drive by what became of them.
public struct PingTotals: Hashable, Sendable {
  /// Those with an outcome.
  public private(set) var all = 0
  /// Of ``all``, those that were answered in time.
  public private(set) var answered = 0
  /// Pings that this host could not send. They are not among ``all``.
  public private(set) var unsent = 0
  /// Of ``all``, those that were answered after the timeout. They count as not answered.
  public private(set) var late = 0
  /// Of ``all``, those that count outside of all fences (``PingPlace/outside``).
  public private(set) var outside = 0
  /// Of ``all``, those that were sent while the drive pauses on Wi-Fi (``PingPlace/paused``).
  public private(set) var paused = 0
  /// Of ``all``, those that count in no fence.
  public var unassigned: Int { outside + paused }

  /// - Parameter sign: 1, or -1 to take back what was counted.
  mutating func count(_ kind: Event.Kind, in place: PingPlace, by sign: Int) {
    switch kind {
    case .ping(.unsent(let count)):
      unsent = sign > 0 ? unsent.saturatingAdding(count) : max(0, unsent.saturatingSubtracting(count))
    case .ping(let outcome):
      all += sign
      if outcome.isAnswered { answered += sign }
      if place == .outside { outside += sign }
      if place == .paused { paused += sign }
    case .late: late += sign
    default: break
    }
  }
}

/// Stretches of time that follow each other, without their ends; the last one can last still.
struct TimeWindows: Sendable {
  private var all: [(begin: DriveTime, end: DriveTime?)] = []

  /// - Parameter isOpen: Whether a stretch lasts already, from before any time that a log can have.
  init(isOpen: Bool) { if isOpen { open(at: DriveTime(microseconds: .min)) } }

  var isOpen: Bool { all.last.map { $0.end == nil } ?? false }
  /// Whether a stretch has ended.
  var hasEnded: Bool { all.first?.end != nil }

  /// Begins a stretch, unless one lasts.
  mutating func open(at time: DriveTime) { if !isOpen { all.append((time, nil)) } }

  /// Ends the stretch that lasts.
  mutating func close(at time: DriveTime) { if isOpen { all[all.count - 1].end = time } }

  /// - Parameter withBegin: Whether the moment at which a stretch begins is part of it.
  func contain(_ time: DriveTime, withBegin: Bool) -> Bool {
    guard let window = all.last(where: { withBegin ? $0.begin <= time : $0.begin < time }) else { return false }
    return window.end.map { time < $0 } ?? true
  }
}
