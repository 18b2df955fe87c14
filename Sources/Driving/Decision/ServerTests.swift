import Coverage
import Pinging
import Settings
import Submission

/// The tests that a drive requests from the control server: the request under way, the grant that waits for use, and
/// the reason when there is none. A pure value.
struct ServerTests: Hashable, Sendable {
  /// The request under way.
  private struct Pending: Hashable {
    let generation: TestSelection.Generation
    let asked: DriveTime
  }

  private struct Failure: Hashable {
    let trouble: TestTrouble
    let generation: TestSelection.Generation
  }

  private struct Silent: Hashable {
    let family: IPVersion
    let replacement: TestSelection.Generation
  }

  private let policy: RecoveryPolicy
  /// Decides which test pings are sent on.
  var session: TestSelection
  private var pending: Pending?
  /// A granted test whose pings have not begun.
  var unused: GrantedTest?
  private(set) var loopUUID: String?
  /// Oddities of the control server's answers that the log already has.
  private var loggedOddities: Set<String> = []
  private var troubles = TestTroubles()
  /// The last one since pings began on a test, or were answered.
  private var failure: Failure?
  /// The last test that the ping server refused (RE01), if it has answered no ping since.
  private var refusal: TestSelection.Generation?
  /// The reason of the last trouble since pings began on a test.
  private(set) var lastTrouble: String?
  /// The IP version of the last test that answered no ping, and the preparation that replaced it.
  private var silent: Silent?

  /// - Parameter loopUUID: The loop that the drive continues; `nil` for a new one.
  init(_ policy: RecoveryPolicy, loopUUID: String? = nil) {
    (self.policy, self.loopUUID) = (policy, loopUUID)
    session = TestSelection(policy: policy)
  }

  /// The last trouble since pings began on a test, or were answered. That of a former link says nothing about this one.
  var trouble: TestTrouble? { failure.flatMap { session.mayUse(requestedFor: $0.generation) ? $0.trouble : nil } }

  /// Whether the ping server refused the token (RE01) and has answered no ping since.
  var isRefused: Bool { refusal.map(session.mayUse) == true }

  // MARK: Pauses

  /// After this time without an answer, a request says nothing about the network any more.
  private static let patience: Duration = .seconds(5)

  /// Why no pings are sent, although there may be a network, as far as the two servers show it; `nil`: they are sent, or a request has had no
  /// answer for a while, which is how a dead zone begins.
  func pauseReason(at now: DriveTime) -> String? {
    let isPausing = trouble?.mayHaveNetwork == true
    // A grant is newer than the end of a test, and than trouble without an answer.
    if lacksAddress(at: now) { return isPausing ? trouble?.reason : DriveStatus.addressUnknown }
    if session.hasEnded { return DriveStatus.testEnded }
    // The silence of another link says nothing about this one.
    let isOwn = pending.map { session.mayUse(requestedFor: $0.generation) } == true
    if isOwn, let pending, now - pending.asked >= Self.patience { return nil }
    if isRefused { return DriveStatus.tokenRefused }
    if isPausing { return trouble?.reason }
    // The user's own target has no request, and a look-up of its name says nothing.
    let waits = pending != nil || !session.isPreparing
    return trouble == nil && session.inUse == nil && waits ? DriveStatus.testAwaited : nil
  }

  // MARK: Requests

  /// A test is replaced.
  /// - Parameter family: The IP version of its pings, if it has answered none.
  mutating func replace(silent family: IPVersion?, for generation: TestSelection.Generation) {
    if let family, trouble == nil { silent = Silent(family: family, replacement: generation) }
  }

  /// The IP version for the next test: not that of a silent one, as an application would change it (RFC 8305). After a request that failed: `nil`,
  /// either. The silence of another link says nothing about this one.
  var nextFamily: IPVersion? {
    silent.flatMap { session.mayUse(requestedFor: $0.replacement) ? $0.family.other : nil }
  }

  /// The granted test that waits, if it is still usable; drops it otherwise.
  mutating func usable(at now: DriveTime) -> GrantedTest? {
    if let unused, !unused.isUsable(at: now, in: session, policy) { self.unused = nil }
    return unused
  }

  /// Whether the server granted a test, so that there is a network, and pings wait for nothing but the ping server's address.
  func lacksAddress(at now: DriveTime) -> Bool {
    session.inUse == nil && unused?.isUsable(at: now, in: session, policy) == true
  }

  /// Requests a test. Cancels a request that has timed out or left by another link, so that there is never a second
  /// one.
  mutating func ask(for generation: TestSelection.Generation, by clock: DriveClock, at now: DriveTime) -> [DriveEffect]
  {
    var effects: [DriveEffect] = []
    if let pending {
      effects.append(.cancelRequest)
      if now - pending.asked >= policy.prepareTimeout {
        let timeout = DurationText.text(policy.prepareTimeout.inSeconds)
        effects += complain(
          TestTrouble("the control server has not answered within \(timeout)"), pending.generation)
      }
    }
    pending = Pending(generation: generation, asked: now)
    let at = clock.wholeMillisecond(now)
    let request = TestRequest(
      generation: generation, at: at, started: clock.started, loopUUID: loopUUID, family: nextFamily)
    return effects + [.requestTest(request)]
  }

  /// Prepares pings to the user's own target: no control server is asked.
  mutating func aim(
    at target: TargetPings, for generation: TestSelection.Generation, by clock: DriveClock, at now: DriveTime
  ) -> [DriveEffect] {
    session.granted(generation, at: now)
    var grant = GrantedTest(
      source: .target(target), generation: generation, requested: now, requestTime: clock.started + now)
    grant.preferredFamily = nextFamily
    return [.resolve(grant, for: generation, orElse: nil)]
  }

  /// The request failed. Its reason is logged even if the preparation has ended.
  mutating func failed(_ trouble: TestTrouble, _ generation: TestSelection.Generation, at now: DriveTime)
    -> [DriveEffect]
  {
    defer { session.requestFailed(generation, at: now) }
    guard pending?.generation == generation else { return [] }
    pending = nil
    return complain(trouble, generation)
  }

  /// The server granted a test.
  mutating func answered(
    _ grant: GrantedTest, _ generation: TestSelection.Generation, pinging family: IPVersion?
  ) -> [DriveEffect] {
    if pending?.generation == generation { pending = nil }
    let oddities = (grant.coverage?.oddities ?? []) + [grant.oddity(forPingsOf: family)].compactMap { $0 }
    return oddities.filter { loggedOddities.insert($0).inserted }.map { .log(.warning, $0) }
  }

  mutating func follow(_ loopUUID: String?) { self.loopUUID = loopUUID ?? self.loopUUID }

  // MARK: Pings

  /// Pings begin on the test.
  mutating func began(_ start: PingStart, at now: DriveTime) {
    unused = nil
    (failure, lastTrouble) = (nil, nil)
    troubles.end()
    // The other version led to no test.
    if start.address.family == silent?.family { silent = nil }
    session.activated(
      start.generation, limit: start.grant.coverage?.maximumSession, requested: start.grant.requested, at: now)
  }

  /// No pings can be sent on the test.
  /// - Parameter mayHaveNetwork: Whether the network may work all the same: not if a name is not found and nothing has answered before.
  mutating func unusable(
    _ reason: String, _ generation: TestSelection.Generation, at now: DriveTime, mayHaveNetwork: Bool = true
  ) -> [DriveEffect] {
    session.activationFailed(generation, at: now)
    return complain(TestTrouble(reason, mayHaveNetwork: mayHaveNetwork), generation)
  }

  mutating func count(_ outcome: PingOutcome, of generation: TestSelection.Generation) {
    // Another test does not help against a fault of this host.
    if case .unsent = outcome { return }
    guard outcome.isAnswered else { return session.failed(generation) }
    session.answered(generation)
    // A request for another test failed, but this test works again.
    if generation == session.inUse { (failure, refusal) = (nil, nil) }
  }

  /// The ping server refused the token (RE01).
  mutating func refused(_ generation: TestSelection.Generation) -> [DriveEffect] {
    defer { session.refused(generation) }
    guard generation == session.inUse else { return [] }
    refusal = generation
    return [.log(.notice, "the ping server refuses the token (RE01)")]
  }

  private mutating func complain(_ trouble: TestTrouble, _ generation: TestSelection.Generation) -> [DriveEffect] {
    (failure, lastTrouble) = (Failure(trouble: trouble, generation: generation), trouble.reason)
    // The other IP version may be the reason: the next request is by either.
    silent = nil
    // The failure is newer than the refusal.
    if !trouble.mayHaveNetwork { refusal = nil }
    return troubles.isNews(trouble) ? [.log(.warning, "\(trouble.text); the drive goes on, trying again")] : []
  }
}

/// The troubles that the log already has since pings began on a test. A pure value.
struct TestTroubles: Hashable, Sendable {
  /// Limits the lines: an operator does not read more different reasons than this.
  private static let most = 16
  private var logged: Set<String> = []

  /// - Returns: Whether the log does not have `trouble` yet.
  mutating func isNews(_ trouble: TestTrouble) -> Bool {
    logged.count < Self.most && logged.insert(trouble.subject).inserted
  }

  /// Pings began on a test: the next trouble is news again.
  mutating func end() { logged.removeAll() }
}
