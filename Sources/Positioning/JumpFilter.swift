import Coverage

/// Refuses positions that cannot have been reached in the time since the last one (`location.maximum-speed`), as receivers
/// give them between high walls or under a jammer. A pure value: the host's times of arrival come in as arguments.
///
/// It never locks itself out: when several positions in a row agree with each other, it is there that the receiver is, and
/// the one from before was wrong. And the longer ago the last accepted one was, the further away the next one may be.
struct JumpFilter: Hashable, Sendable {
  /// So many positions in a row that agree with each other are believed, however far away they are.
  static let proof = 3
  /// Seconds by which a position is held up on the way at most.
  private static let longestDelay = 30.0

  private struct Place: Hashable {
    let coordinate: Coordinate
    let accuracy: Double
    let arrival: ContinuousClock.Instant
    let time: WallTime?
  }

  /// A position that was refused, and how many in a row agreed up to it.
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

  /// - Parameters:
  ///   - accuracy: Metres; 0 where it is not known, which allows for nothing.
  ///   - arrival: When the position reached this host.
  ///   - time: The receiver's time of the position: positions that were held up on the way come closer together than they were made.
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

  /// The host's time, or the receiver's if that is longer and can be: its dates step by weeks.
  private func seconds(from start: Place, to place: Place) -> Double {
    let seconds = max(0, (place.arrival - start.arrival).inSeconds)
    guard let begin = start.time, let end = place.time else { return seconds }
    let difference = (Duration.microseconds(end.microseconds) - .microseconds(begin.microseconds)).inSeconds
    return difference <= seconds + Self.longestDelay ? max(seconds, difference) : seconds
  }
}
