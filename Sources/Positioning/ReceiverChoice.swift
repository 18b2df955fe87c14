/// Decides when another receiver replaces the chosen one: when it has been clearly better for some time. A pure value.
struct ReceiverChoice {
  /// How long the other receiver must be better, so that two receivers do not alternate.
  static let patience = Duration.seconds(3)
  /// A chosen receiver with this accuracy, in metres, or a better one is not replaced.
  static let goodEnough = 10.0

  private struct Challenger {
    let device: String?
    let since: ContinuousClock.Instant
    var last: ContinuousClock.Instant
  }

  private var challenger: Challenger?

  /// Whether `device` replaces the chosen receiver now.
  /// - Parameters:
  ///   - theirs: The accuracy of `device`'s present position in metres; `nil` when unknown.
  ///   - mine: The accuracy of the chosen receiver's last position in metres; `nil` when unknown.
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

  /// Better: at most half of the error.
  private static func isBetter(_ theirs: Double?, than mine: Double?) -> Bool {
    guard let theirs else { return false }
    guard let mine else { return true }
    return mine > goodEnough && theirs <= mine / 2
  }
}
