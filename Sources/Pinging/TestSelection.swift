import Coverage

/// Decides with which test of the control server pings are sent, and when to request another one (docs/protocol.md, 2).
/// A pure value: time comes in as an argument, decisions come out.
///
/// A preparation is the request for a test and the set-up of its pings. Each preparation has a generation, which its test inherits; events
/// of an outdated generation have no effect. There is at most one preparation at a time, and during it the old test stays in use.
///
/// A test is valid for the link and the source address of its request. Wi-Fi, another link and another address end the test in use and the
/// preparation, and invalidate every test that was requested before (``mayUse(requestedFor:)``).
public struct TestSelection: Hashable, Sendable {
  /// The number of a preparation and of its test, from 1.
  public typealias Generation = Int

  /// The action for one slot of the ping schedule.
  public enum Decision: Hashable, Sendable {
    /// Start a preparation. The test in use stays in use.
    case prepare(Generation)
    /// Pings are sent with the test of this generation.
    case send(Generation)
    /// No pings are sent.
    case skip
  }

  /// Why the test in use is to be replaced.
  private enum Cause: Hashable {
    /// Too many consecutive pings were not answered.
    case failures
    /// The session has reached the largest number of fences.
    case fences
    /// The end of the test is near.
    case age
  }

  private struct Test: Hashable {
    let generation: Generation
    /// When its preparation began.
    let launched: DriveTime
    /// When another test is requested.
    let renews: DriveTime
    /// The end of its validity.
    let ends: DriveTime
    /// The end of its token's.
    let expires: DriveTime
  }

  private struct Preparation: Hashable {
    let generation: Generation
    let launched: DriveTime
    var causes: Set<Cause>
    /// `nil` for the first preparation of a drive, which can last as long as there is no network.
    var deadline: DriveTime?
    var isGranted = false
    var old: Test?
  }

  private enum State: Hashable {
    case idle
    case preparing(Preparation)
    case active(Test)
  }

  /// What is known of the link that carries the pings.
  private struct Link: Hashable {
    var path: Path?
    /// Tests of this and earlier generations belong to a former link or address.
    var lastOutdated = 0
    var lastChange: DriveTime?
  }

  /// The outcomes of the pings of the test in use.
  private struct Outcomes: Hashable {
    /// Pings in a row without an answer.
    var failures = 0
    /// Whether one was answered since the last decision.
    var hasSucceeded = false
    /// Answered pings in a row.
    var answers = 0
    var isRefused = false
  }

  private struct Waits: Hashable {
    /// Between replacements of the test in use.
    var recovery: DoublingWait
    /// After failed requests.
    var retry: DoublingWait
    /// After tests with which no ping could be sent.
    var activation: DoublingWait
    /// After tests that were refused soon after their start.
    var refusal: DoublingWait
    /// After changes of the link in quick succession, so that a flapping link does not flood the server with requests.
    var flapping: DoublingWait

    init(_ policy: RecoveryPolicy) {
      recovery = DoublingWait(first: policy.backoff, greatest: policy.backoffMax)
      retry = DoublingWait(first: policy.retryDelay, greatest: policy.retryDelayMax)
      activation = DoublingWait(first: policy.retryDelay, second: policy.backoff, greatest: policy.backoffMax)
      refusal = DoublingWait(first: .zero, second: policy.retryDelay, greatest: policy.retryDelayMax)
      flapping = DoublingWait(first: .zero, second: policy.retryDelay, greatest: policy.backoff)
    }
  }

  private let policy: RecoveryPolicy
  private var state = State.idle
  private var lastGeneration = 0
  private var owed: Set<Cause> = []
  private var link = Link()
  /// When the last preparation began.
  private var lastLaunch: DriveTime?
  private var outcomes = Outcomes()
  private var hasHadTest = false
  /// Whether a test has ended by its age, and pings have not begun on another one: the network worked until then, as its last pings were
  /// answered.
  public private(set) var hasEnded = false
  private var nextPreparation = DriveTime.start
  private var nextRecovery = DriveTime.start
  private var waits: Waits

  /// A session at the start of a drive, without a test.
  public init(policy: RecoveryPolicy = RecoveryPolicy()) {
    self.policy = policy
    waits = Waits(policy)
  }

  /// The generation of the test in use: the active one, or the old one during a preparation.
  public var inUse: Generation? { test?.generation }

  private var test: Test? {
    switch state {
    case .idle: nil
    case .preparing(let preparation): preparation.old
    case .active(let test): test
    }
  }

  public var isPreparing: Bool { preparation != nil }
  /// Whether the last ping with an outcome was answered.
  public var isAnswered: Bool { outcomes.answers > 0 }

  private var preparation: Preparation? {
    if case .preparing(let preparation) = state { preparation } else { nil }
  }

  // MARK: Decisions

  /// Decides for the present moment, by the table of docs/protocol.md, 2. After `prepare`, call one of
  /// ``activated(_:limit:requested:at:)``, ``requestFailed(_:at:)`` and ``activationFailed(_:at:)``.
  /// - Parameter now: Not before the time of any earlier call.
  public mutating func tick(at now: DriveTime, path: Path) -> Decision {
    let isBack = link.path == .offline && path != .offline
    let isNewOnWiFi = path == .wifi && link.path != .wifi
    link.path = path
    if isBack { waits.retry.reset() }
    if let preparation, let deadline = preparation.deadline, now >= deadline { giveUp(preparation, at: now) }
    if isNewOnWiFi { linkChanged(at: now) }
    guard path != .wifi else { return .skip }
    cut(at: now)
    if outcomes.hasSucceeded { nextRecovery = min(nextRecovery, now + policy.backoff) }
    outcomes.hasSucceeded = false
    if outcomes.failures >= policy.failureThreshold {
      owed.insert(.failures)
      outcomes.failures = 0
    }
    if case .active(let test) = state, now >= test.renews { owed.insert(.age) }
    switch state {
    case .idle:
      // A request that failed without a network does not delay the next one.
      if isBack { nextPreparation = now }
      return now >= nextPreparation ? prepare(at: now) : .skip
    case .preparing(let preparation):
      // A request that began without a network can hang until its timeout.
      if isBack, !preparation.isGranted {
        abandon(preparation)
        return prepare(at: now)
      }
      return preparation.old.map { .send($0.generation) } ?? .skip
    case .active(let test):
      guard !owed.isEmpty, now >= nextRecovery else { return .send(test.generation) }
      nextRecovery = now + waits.recovery.next()
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

  /// Ends the use of a test that was refused or has expired. Until its last pings are answered, as many as make a recovery, it stays in use:
  /// without them, nothing would tell that a dead zone goes on.
  private mutating func cut(at now: DriveTime) {
    guard let test else { return }
    if now - test.launched >= policy.provenAfter { waits.refusal.reset() }
    let isServed = outcomes.answers >= policy.failureThreshold
    guard outcomes.isRefused || now >= (isServed ? test.ends : test.expires) else { return }
    if outcomes.isRefused {
      nextPreparation = now + waits.refusal.next()
    } else {
      hasEnded = isServed
      // Requests that failed in a dead zone do not delay the first one after it.
      if isServed { waits.retry.reset() }
      nextPreparation = now
    }
    outcomes.isRefused = false
    switch state {
    case .preparing(var preparation):
      preparation.old = nil
      state = .preparing(preparation)
    case .idle, .active: state = .idle
    }
  }

  // MARK: The link

  /// Applies a change of the link or of the source address. For a change to Wi-Fi, ``tick(at:path:)`` does this itself.
  ///
  /// The next ``tick(at:path:)`` that is not on Wi-Fi requests a test. When changes follow each other within
  /// ``RecoveryPolicy/provenAfter``, requests are at least 1, 2, 4 ... s apart, up to the policy's first back-off.
  public mutating func linkChanged(at now: DriveTime) {
    if link.lastChange.map({ now - $0 >= policy.provenAfter }) ?? true { waits.flapping.reset() }
    // Delay the next request only if there was one since the last change.
    if let lastLaunch, link.lastChange.map({ lastLaunch >= $0 }) ?? true {
      nextPreparation = max(now, lastLaunch + waits.flapping.next())
    }
    link.lastChange = now
    link.lastOutdated = lastGeneration
    state = .idle
    hasEnded = false
    owed.removeAll()
    outcomes = Outcomes()
    // Failures on the former link do not count on this one.
    waits.retry.reset()
    waits.activation.reset()
    waits.recovery.reset()
    nextRecovery = now
  }

  /// Whether a test that was requested for this generation is valid: link and address have not changed since.
  public func mayUse(requestedFor generation: Generation) -> Bool { generation > link.lastOutdated }

  // MARK: Results of preparations

  /// Whether the preparation of this generation is under way.
  public func awaits(_ generation: Generation) -> Bool { preparation?.generation == generation }

  /// The control server granted a test; the set-up of its pings follows.
  public mutating func granted(_ generation: Generation, at now: DriveTime) {
    guard var preparation, preparation.generation == generation else { return }
    hasHadTest = true
    waits.retry.reset()
    preparation.isGranted = true
    preparation.deadline = now + policy.activationTimeout
    state = .preparing(preparation)
  }

  /// Pings are sent with the new test from now on; the old one is no longer in use.
  /// - Parameters:
  ///   - limit: The server's limit for the duration of the test; `nil`: none.
  ///   - requested: When the test was requested, if that was for an earlier preparation; its validity counts from there.
  public mutating func activated(
    _ generation: Generation, limit: Duration?, requested: DriveTime? = nil, at now: DriveTime
  ) {
    guard let preparation, preparation.generation == generation else { return }
    let (begin, life) = (requested ?? preparation.launched, policy.life(limit: limit))
    state = .active(
      Test(
        generation: generation, launched: preparation.launched, renews: begin + (life - policy.renewalLead(of: life)),
        ends: begin + life, expires: begin + policy.longestSession))
    (hasHadTest, hasEnded) = (true, false)
    outcomes.failures = 0
    outcomes.isRefused = false
    outcomes.answers = 0
    owed.removeAll()
    waits.retry.reset()
    waits.activation.reset()
  }

  public mutating func requestFailed(_ generation: Generation, at now: DriveTime) {
    guard let preparation, preparation.generation == generation else { return }
    abandon(preparation)
    nextPreparation = max(now, preparation.launched + waits.retry.next())
  }

  /// Ends the silent test that this preparation is to replace: the network does not carry its pings any more.
  public mutating func endSilent(for generation: Generation) {
    guard var preparation, preparation.generation == generation, preparation.causes.contains(.failures) else { return }
    preparation.old = nil
    state = .preparing(preparation)
  }

  /// The control server granted a test, but no pings can be sent with it.
  public mutating func activationFailed(_ generation: Generation, at now: DriveTime) {
    guard let preparation, preparation.generation == generation else { return }
    abandon(preparation)
    nextPreparation = max(now, preparation.launched + waits.activation.next())
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

  // MARK: Outcomes of pings

  /// A ping of this generation was answered.
  public mutating func answered(_ generation: Generation) {
    guard counts(generation) else { return }
    outcomes.failures = 0
    outcomes.answers = min(outcomes.answers + 1, policy.failureThreshold)
    outcomes.hasSucceeded = true
    waits.recovery.reset()
    owed.remove(.failures)
    guard var preparation else { return }
    preparation.causes.remove(.failures)
    state = .preparing(preparation)
  }

  /// A ping of this generation was not answered.
  public mutating func failed(_ generation: Generation) {
    guard counts(generation) else { return }
    outcomes.failures += 1
    outcomes.answers = 0
  }

  /// The ping server refused the token of this generation (RE01).
  public mutating func refused(_ generation: Generation) {
    if generation == inUse { outcomes.isRefused = true }
  }

  /// The session of this generation has reached the largest number of fences.
  public mutating func filled(_ generation: Generation) {
    if case .active(let test) = state, test.generation == generation { owed.insert(.fences) }
  }

  private func counts(_ generation: Generation) -> Bool { generation == inUse }
}
