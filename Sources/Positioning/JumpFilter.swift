import Coverage

/// Refuses positions that cannot be reached in the time since the last accepted one (`location.maximum-speed`). Receivers report such
/// positions between high walls or under jamming. A pure value: times of arrival come in as arguments.
///
/// A wrong accepted position cannot block the filter: several consecutive positions that agree with each other are accepted, and the
/// reachable distance grows with the time since the last accepted position.
struct JumpFilter: Hashable, Sendable {
  /// This many consecutive positions that agree with each other are accepted at any distance.
  static let proof = 3
  /// The longest delay of a position on its way to this host, in seconds.
  private static let longestDelay = 30.0

  private struct Place: Hashable {
    let coordinate: Coordinate
    let accuracy: Double
    let arrival: ContinuousClock.Instant
    let time: WallTime?
  }

  /// A refused position, and the number of consecutive positions up to it that agree.
  private struct Rival: Hashable {
    let place: Place
    let count: Int
  }

  /// Metres a second, above 0.
  private let maximumSpeed: Double
  private var accepted: Place?
  private var rival: Rival?

  init(maximumSpeed: Double) { self.maximumSpeed = maximumSpeed }

  /// Whether the last position was refused.
  var isInDoubt: Bool { rival != nil }

  /// Whether the position is accepted.
  /// - Parameters:
  ///   - accuracy: In metres; 0 when unknown.
  ///   - time: The receiver's time of the position. Delayed positions arrive closer together than they were measured.
  mutating func accepts(
    _ coordinate: Coordinate, accuracy: Double, at arrival: ContinuousClock.Instant, time: WallTime? = nil
  ) -> Bool {
    let place = Place(coordinate: coordinate, accuracy: accuracy, arrival: arrival, time: time)
    guard let accepted, !isWithinReach(place, from: accepted) else { return accept(place) }
    let agreeing = rival.map { isWithinReach(place, from: $0.place) ? $0.count + 1 : 1 } ?? 1
    guard agreeing < Self.proof else { return accept(place) }
    rival = Rival(place: place, count: agreeing)
    return false
  }

  private mutating func accept(_ place: Place) -> Bool {
    accepted = place
    rival = nil
    return true
  }

  private func isWithinReach(_ place: Place, from start: Place) -> Bool {
    let seconds = seconds(from: start, to: place)
    return place.coordinate.distance(to: start.coordinate)
      <= maximumSpeed * seconds + place.accuracy + start.accuracy
  }

  /// The time between two positions by the host's clock, or by the receiver's if that is longer and plausible: its dates can step by weeks.
  private func seconds(from start: Place, to place: Place) -> Double {
    let seconds = max(0, (place.arrival - start.arrival).inSeconds)
    guard let begin = start.time, let end = place.time else { return seconds }
    let difference = (Duration.microseconds(end.microseconds) - .microseconds(begin.microseconds)).inSeconds
    return difference <= seconds + Self.longestDelay ? max(seconds, difference) : seconds
  }
}
