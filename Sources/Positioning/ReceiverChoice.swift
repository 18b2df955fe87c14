import Coverage

/// Whether a receiver that stands beside the chosen one takes over: when it has been clearly better for some time. A pure value.
struct ReceiverChoice {
  /// How long the other one has to be better, so that no two take turns.
  static let patience = Duration.seconds(3)
  /// A chosen receiver with this accuracy, in metres, is good enough to stay.
  static let goodEnough = 10.0

  private struct Challenger {
    let device: String?
    let since: ContinuousClock.Instant
    var last: ContinuousClock.Instant
  }

  private var challenger: Challenger?

  /// - Parameters:
  ///   - theirs: The accuracy of `device`'s present position, metres.
  ///   - mine: The accuracy of the chosen receiver's last one; `nil` when it is unknown.
  mutating func takesOver(
    _ device: String?, theirs: Double?, mine: Double?, at now: ContinuousClock.Instant
  ) -> Bool {
    if let last = challenger?.last, now > last + Self.patience { challenger = nil }
    guard Self.isBetter(theirs, than: mine) else {
      if challenger?.device == device { challenger = nil }
      return false
    }
    var current = challenger ?? Challenger(device: device, since: now, last: now)
    guard current.device == device else { return false }
    current.last = now
    challenger = current
    guard now >= current.since + Self.patience else { return false }
    challenger = nil
    return true
  }

  /// Half of the error or less.
  private static func isBetter(_ theirs: Double?, than mine: Double?) -> Bool {
    guard let theirs else { return false }
    guard let mine else { return true }
    return mine > goodEnough && theirs <= mine / 2
  }
}
