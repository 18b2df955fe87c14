import Coverage

/// Decides on which test of the control server pings are sent, and when another is asked for (spec 3.5). A pure value: time comes
/// in as an argument, what it wants comes back.
///
/// Getting a test is a preparation: a request to the control server, then what pings on it need. Each preparation has a
/// generation, which becomes that of its test; outcomes of a generation that does not count any more change nothing. There is
/// never more than one preparation, and while it lasts the old test goes on being used.
///
/// A test is good for the link and the address that it was requested by. Wi-Fi, another link and another address of this host end
/// the test in use and the preparation, and no test requested before may be used from then on (``mayUse(requestedFor:)``).
public struct PingSession: Hashable, Sendable {
  public typealias Generation = Int

  /// What is to be done now.
  public enum Decision: Hashable, Sendable {
    /// Get another test; pings go on as they do.
    case prepare(Generation)
    case send(Generation)
    case skip
  }

  /// Why another test is wanted although there is one.
  private enum Cause: Hashable {
    /// Too many pings in a row without an answer.
    case failures
    /// The session has as many fences as it may.
    case fences
  }

  private struct Test: Hashable {
    let generation: Generation
    /// When its preparation began.
    let launched: DriveTime
    let ends: DriveTime
  }

  private struct Preparation: Hashable {
    let generation: Generation
    let launched: DriveTime
    var causes: Set<Cause>
    /// `nil`: the first of a drive, which may last as long as there is no network.
    var deadline: DriveTime?
    var isGranted = false
    var old: Test?
  }

  private enum State: Hashable {
    case idle
    case preparing(Preparation)
    case active(Test)
  }

  private let policy: RecoveryPolicy
  private var state = State.idle
  private var lastGeneration = 0
  private var owed: Set<Cause> = []
  private var lastPath: Path?
  /// Tests that were requested for this generation or an earlier one belong to a link or an address of before.
  private var lastOutdated = 0
  private var lastLinkChange: DriveTime?
  /// When the last preparation began.
  private var lastLaunch: DriveTime?
  private var isRefused = false
  private var hasSucceeded = false
  private var failures = 0
  private var hasHadTest = false
  private var nextPreparation = DriveTime.start
  private var nextRecovery = DriveTime.start
  /// Between recoveries of a test that is in use.
  private var recovery: RetryLadder
  /// After requests that failed.
  private var retry: RetryLadder
  /// After tests on which no ping could be sent.
  private var activation: RetryLadder
  /// After tests that were refused soon.
  private var refusal: RetryLadder
  /// After changes of the link that follow each other closely: a link that flaps does not flood the server with requests.
  private var flapping: RetryLadder

  public init(policy: RecoveryPolicy = RecoveryPolicy()) {
    self.policy = policy
    recovery = RetryLadder(first: policy.backoff, last: policy.backoffMax)
    retry = RetryLadder(first: policy.retryDelay, last: policy.retryDelayMax)
    activation = RetryLadder(first: policy.retryDelay, second: policy.backoff, last: policy.backoffMax)
    refusal = RetryLadder(first: .zero, second: policy.retryDelay, last: policy.retryDelayMax)
    flapping = RetryLadder(first: .zero, second: policy.retryDelay, last: policy.backoff)
  }

  /// The test whose pings count: the active one, or the old one while another is prepared.
  public var inUse: Generation? { test?.generation }

  private var test: Test? {
    switch state {
    case .idle: nil
    case .preparing(let preparation): preparation.old
    case .active(let test): test
    }
  }

  private var preparation: Preparation? {
    if case .preparing(let preparation) = state { preparation } else { nil }
  }

  // MARK: Decisions

  /// The decision table of spec 3.5. After `prepare`, one of ``activated(_:limit:requested:at:)``, ``requestFailed(_:at:)`` and
  /// ``activationFailed(_:at:)`` has to follow.
  /// - Parameter now: Not before any earlier moment.
  public mutating func tick(at now: DriveTime, path: Path) -> Decision {
    let isBack = lastPath == .offline && path != .offline
    let isNewOnWiFi = path == .wifi && lastPath != .wifi
    lastPath = path
    if isBack { retry.reset() }
    if let preparation, let deadline = preparation.deadline, now >= deadline { giveUp(preparation, at: now) }
    if isNewOnWiFi { linkChanged(at: now) }
    guard path != .wifi else { return .skip }
    cut(at: now)
    if hasSucceeded { nextRecovery = min(nextRecovery, now + policy.backoff) }
    hasSucceeded = false
    if failures >= policy.failureThreshold {
      owed.insert(.failures)
      failures = 0
    }
    switch state {
    case .idle:
      // What failed without a network says nothing about now.
      if isBack { nextPreparation = now }
      return now >= nextPreparation ? prepare(at: now) : .skip
    case .preparing(let preparation):
      // A request that began without a network can hang for long.
      if isBack, !preparation.isGranted {
        abandon(preparation)
        return prepare(at: now)
      }
      return preparation.old.map { .send($0.generation) } ?? .skip
    case .active(let test):
      guard !owed.isEmpty, now >= nextRecovery else { return .send(test.generation) }
      nextRecovery = now + recovery.next()
      return prepare(at: now)
    }
  }

  private mutating func prepare(at now: DriveTime) -> Decision {
    lastGeneration += 1
    lastLaunch = now
    state = .preparing(
      Preparation(
        generation: lastGeneration, launched: now, causes: owed,
        deadline: hasHadTest ? now + policy.prepareTimeout : nil, old: test))
    owed.removeAll()
    return .prepare(lastGeneration)
  }

  /// Not one more ping on a test that was refused, or that is too old.
  private mutating func cut(at now: DriveTime) {
    guard let test else { return }
    if now - test.launched >= policy.provenAfter { refusal.reset() }
    guard isRefused || now >= test.ends else { return }
    if isRefused { nextPreparation = now + refusal.next() }
    isRefused = false
    switch state {
    case .preparing(var preparation):
      preparation.old = nil
      state = .preparing(preparation)
    case .idle, .active: state = .idle
    }
  }

  // MARK: The link

  /// Pings leave by another link, or with another address of this host, than before. Wi-Fi as such need not be reported here.
  ///
  /// The next test is requested with the next ``tick(at:path:)`` that is not on Wi-Fi. If changes follow each other within
  /// ``RecoveryPolicy/provenAfter``, requests are at least 1, 2, 4 ... s apart, up to the policy's first back-off.
  public mutating func linkChanged(at now: DriveTime) {
    if lastLinkChange.map({ now - $0 >= policy.provenAfter }) ?? true { flapping.reset() }
    // Without a request since the change before, there is nothing to space out.
    if let lastLaunch, lastLinkChange.map({ lastLaunch >= $0 }) ?? true {
      nextPreparation = max(now, lastLaunch + flapping.next())
    }
    lastLinkChange = now
    lastOutdated = lastGeneration
    state = .idle
    owed.removeAll()
    (failures, hasSucceeded, isRefused) = (0, false, false)
    // Failures on the former link say nothing about this one.
    retry.reset()
    activation.reset()
    recovery.reset()
    nextRecovery = now
  }

  /// Whether a test that was requested for that generation may still be used: the link and the address are still the same.
  public func mayUse(requestedFor generation: Generation) -> Bool { generation > lastOutdated }

  // MARK: What became of preparations

  /// Whether that preparation is still waited for.
  public func awaits(_ generation: Generation) -> Bool { preparation?.generation == generation }

  /// The control server gave a test; what remains is short.
  public mutating func granted(_ generation: Generation, at now: DriveTime) {
    guard var preparation, preparation.generation == generation else { return }
    hasHadTest = true
    retry.reset()
    preparation.isGranted = true
    preparation.deadline = now + policy.activationTimeout
    state = .preparing(preparation)
  }

  /// Pings are sent on the new test from now on; the old one is done with.
  /// - Parameters:
  ///   - limit: How long the server lets the test last.
  ///   - requested: When it was asked for, from where its age counts, if that was for an earlier preparation.
  public mutating func activated(
    _ generation: Generation, limit: Duration?, requested: DriveTime? = nil, at now: DriveTime
  ) {
    guard let preparation, preparation.generation == generation else { return }
    let ends = (requested ?? preparation.launched) + policy.life(limit: limit)
    state = .active(Test(generation: generation, launched: preparation.launched, ends: ends))
    hasHadTest = true
    failures = 0
    isRefused = false
    owed.removeAll()
    retry.reset()
    activation.reset()
  }

  /// The control server gave no test.
  public mutating func requestFailed(_ generation: Generation, at now: DriveTime) {
    guard let preparation, preparation.generation == generation else { return }
    abandon(preparation)
    nextPreparation = max(now, preparation.launched + retry.next())
  }

  /// There is a test, but no pings can be sent on it.
  public mutating func activationFailed(_ generation: Generation, at now: DriveTime) {
    guard let preparation, preparation.generation == generation else { return }
    abandon(preparation)
    nextPreparation = max(now, preparation.launched + activation.next())
  }

  private mutating func giveUp(_ preparation: Preparation, at now: DriveTime) {
    if preparation.isGranted {
      activationFailed(preparation.generation, at: now)
    } else {
      requestFailed(preparation.generation, at: now)
    }
  }

  private mutating func abandon(_ preparation: Preparation) {
    owed.formUnion(preparation.causes)
    state = preparation.old.map(State.active) ?? .idle
  }

  // MARK: What became of pings

  public mutating func answered(_ generation: Generation) {
    guard counts(generation) else { return }
    failures = 0
    hasSucceeded = true
    recovery.reset()
    owed.remove(.failures)
    guard var preparation else { return }
    preparation.causes.remove(.failures)
    state = .preparing(preparation)
  }

  public mutating func failed(_ generation: Generation) {
    if counts(generation) { failures += 1 }
  }

  /// The ping server does not take the token any more (RE01).
  public mutating func refused(_ generation: Generation) {
    if generation == inUse { isRefused = true }
  }

  /// The session has as many fences as it may.
  public mutating func filled(_ generation: Generation) {
    if case .active(let test) = state, test.generation == generation { owed.insert(.fences) }
  }

  private func counts(_ generation: Generation) -> Bool { generation == inUse }
}
