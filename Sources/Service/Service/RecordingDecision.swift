import Settings

/// Decides whether to record now. A pure value: time comes in as an argument.
///
/// A command applies until the next one, or until the process ends.
struct RecordingDecision: Hashable, Sendable {
  /// The settings that decide about recording, which can change while the service runs.
  struct Rules: Hashable, Sendable {
    var rule = RecordingRule.always
    /// The speed above which the device moves, in m/s.
    var startSpeed = 2.0
    /// How long the device must be slow before it counts as resting.
    var rest: Duration = .seconds(300)
    /// How long a moving device may be without a position, as in a tunnel, before it counts as resting.
    var patience: Duration = .seconds(1800)
  }

  /// This many fixes in a row must be fast: a receiver that has just found its position, or stands between houses,
  /// reports a wrong speed now and then.
  static let fastFixesToMove = 3

  var rules: Rules
  /// The operator's `start` (`true`) or `stop` (`false`); `nil`: the rule decides.
  private var order: Bool?
  /// Wins over ``order``, which `resume` brings back.
  private var isPaused = false
  /// The length of the present series of fast fixes.
  private var fastFixes = 0
  /// Whether the device moved at the last fix; ``isMoving(at:)`` has the present answer, because time ends a movement too.
  private var isOnTheMove = false
  /// When the current series of slow fixes began; `nil` after a fast one.
  private var restingSince: ContinuousClock.Instant?
  /// When a speed was last known.
  private var heardAt: ContinuousClock.Instant?

  init(rules: Rules) {
    self.rules = rules
  }

  /// Applies a command. `resume` undoes a `pause` first; only without one it undoes a `stop`.
  mutating func apply(_ command: ServiceCommand) {
    switch command {
    case .start: (order, isPaused) = (true, false)
    case .stop: (order, isPaused) = (false, false)
    case .pause: isPaused = true
    case .resume:
      if !isPaused, order == false { order = nil }
      isPaused = false
    }
  }

  /// - Parameter speed: In m/s; `nil` when the receiver reports none, which changes nothing.
  mutating func update(speed: Double?, at now: ContinuousClock.Instant) {
    guard let speed else { return }
    let wasMoving = isMoving(at: now)
    // Fast fixes before a long silence do not count after it.
    if isOnTheMove, !wasMoving { fastFixes = 0 }
    fastFixes = speed > rules.startSpeed ? fastFixes + 1 : 0
    isOnTheMove = wasMoving || fastFixes >= Self.fastFixesToMove
    restingSince = fastFixes > 0 ? nil : restingSince ?? now
    heardAt = now
  }

  /// The rest timer starts at the first slow fix. Losing the fix does not start it.
  private func isMoving(at now: ContinuousClock.Instant) -> Bool {
    guard isOnTheMove, let heardAt else { return false }
    if let restingSince { return now - restingSince < rules.rest }
    return now - heardAt < rules.patience
  }

  func wantsDrive(at now: ContinuousClock.Instant) -> Bool {
    if isPaused { return false }
    if let order { return order }
    return switch rules.rule {
    case .always: true
    case .moving: isMoving(at: now)
    case .command: false
    }
  }

  /// Why the service records or does not, in a few words for an operator.
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

extension ProbeConfiguration {
  /// The settings that a reload changes at once.
  var recordingRules: RecordingDecision.Rules {
    .init(rule: agent.record, startSpeed: agent.startSpeed, rest: agent.rest, patience: location.giveUpAfter)
  }

  /// How long the sender may be at one step: a request, the wait before the first one, or half an hour of reading a large store.
  var senderPatience: Duration { .seconds(1800) + controlServer.requestTimeout + submission.spread }
}
