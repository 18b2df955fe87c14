import Coverage
import Settings

/// What an operator can tell the service while it runs.
public enum ServiceCommand: String, Hashable, Sendable, CaseIterable {
  /// Record from now on, whatever the rule says.
  case start
  /// End the drive, and begin none until `start` or `resume`.
  case stop
  /// As `stop`, but `resume` goes on as before.
  case pause
  /// Undo `pause`, or `stop`.
  case resume
}

/// Whether a drive is wanted now. A pure value: time comes in as an argument.
///
/// A command counts until the next one, or until the process ends.
struct RecordingWish: Hashable, Sendable {
  struct Rules: Hashable, Sendable {
    var rule = RecordingRule.always
    /// Metres a second above which the device moves.
    var startSpeed = 2.0
    /// How long it has to rest until it counts as standing.
    var rest: Duration = .seconds(300)
    /// How long a moving device may be without a position, as in a tunnel, until it counts as standing.
    var patience: Duration = .seconds(1800)
  }

  /// So many fixes in a row have to be fast: a receiver that has just found its position, or stands between houses, shows
  /// speeds now and then.
  static let fastFixesToMove = 3

  var rules: Rules
  private var order: Bool?
  private var isPaused = false
  private var fastFixes = 0
  private var isOnTheMove = false
  /// Since when all fixes are slow; `nil` after a fast one.
  private var restingSince: ContinuousClock.Instant?
  /// When a speed was known last.
  private var heardAt: ContinuousClock.Instant?

  init(rules: Rules) {
    self.rules = rules
  }

  mutating func take(_ command: ServiceCommand) {
    switch command {
    case .start: (order, isPaused) = (true, false)
    case .stop: (order, isPaused) = (false, false)
    case .pause: isPaused = true
    case .resume:
      if !isPaused, order == false { order = nil }
      isPaused = false
    }
  }

  /// - Parameter speed: Metres a second; `nil` where the receiver does not tell, which changes nothing.
  mutating func take(speed: Double?, at now: ContinuousClock.Instant) {
    guard let speed else { return }
    let wasMoving = isMoving(at: now)
    // What was fast before a long silence is no reason to begin after it.
    if isOnTheMove, !wasMoving { fastFixes = 0 }
    fastFixes = speed > rules.startSpeed ? fastFixes + 1 : 0
    isOnTheMove = wasMoving || fastFixes >= Self.fastFixesToMove
    restingSince = fastFixes > 0 ? nil : restingSince ?? now
    heardAt = now
  }

  /// Silence of the receiver is no rest: a rest begins with a slow fix.
  private func isMoving(at now: ContinuousClock.Instant) -> Bool {
    guard isOnTheMove, let heardAt else { return false }
    if let restingSince { return now - restingSince < rules.rest }
    return now - heardAt < rules.patience
  }

  /// Whether to record now.
  func wantsDrive(at now: ContinuousClock.Instant) -> Bool {
    if isPaused { return false }
    if let order { return order }
    return switch rules.rule {
    case .always: true
    case .moving: isMoving(at: now)
    case .command: false
    }
  }

  /// Why there is no drive, or what keeps it going, in a word for a person.
  func reason(at now: ContinuousClock.Instant) -> String {
    if isPaused { return "paused" }
    if let order { return order ? "started by command" : "stopped by command" }
    return switch rules.rule {
    case .always: "always recording"
    case .moving: isMoving(at: now) ? "moving" : "standing"
    case .command: "waiting for a command"
    }
  }
}
