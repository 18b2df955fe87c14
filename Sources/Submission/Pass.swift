import ControlServer
import Coverage
import DriveStore
import Logging

/// A pass under way.
struct Pass: Sendable {
  let mode: PassMode
  let urgency: ServerGate.Urgency
  /// The first of the drives that are being recorded.
  let running: Int64?
  /// What is still to be sent, in this order.
  var queue: [Batch] = []
  var report = Report()
  var judge = TroubleJudge()
  /// Whether the history was asked about the batches that may have left.
  var areDoubtsSettled = false
  /// Fences in the queue that look too old to be sent, by a clock that nobody has agreed with.
  var doubted = 0
  /// Whether drives would be dated anew by a clock that no other one has confirmed.
  var hasDoubtfulTimes = false
  /// Whether the server was asked for the time because of that.
  var hasAskedForTime = false
  private var refusalsInARow = 0
  private var kept: Set<Int64> = []
  private var sent: Set<Int64> = []
  private var quarantined: Set<Int64> = []

  /// So many refusals in a row are enough for a pass that nobody waits for: a server that wants nothing from anybody is not to be
  /// asked by a whole fleet about each single fence.
  static let refusalLimit = 20

  init(mode: PassMode, urgency: ServerGate.Urgency, running: Int64?) {
    self.mode = mode
    self.urgency = urgency
    self.running = running
  }

  /// The next batch to send. One that may have left waits until the history was asked, after all others.
  var next: Batch? {
    queue.first { ($0.state == .waiting || areDoubtsSettled) && ($0.test != nil || !judge.makesNoTests) }
  }

  mutating func note(_ failure: ServerFailure?) { report.firstFailure = report.firstFailure ?? failure }

  /// - Returns: Whether that is enough for now.
  mutating func refused() -> Bool {
    refusalsInARow += 1
    return urgency == .background && refusalsInARow >= Self.refusalLimit
  }

  mutating func accepted(_ batch: Batch) {
    refusalsInARow = 0
    sent.insert(batch.session)
    report.fencesSent += batch.fences
  }

  mutating func quarantined(_ batch: Batch) { quarantined.insert(batch.session) }

  mutating func kept(_ batch: Batch) { kept.insert(batch.session) }

  /// Counts what is left.
  mutating func complete() {
    kept.formUnion(queue.map(\.session))
    report.sessionsSent = sent.subtracting(kept).subtracting(quarantined).count
    report.sessionsKept = kept.count
    report.sessionsQuarantined = quarantined.count
  }

  var summary: String {
    var parts = ["sent \(report.fencesSent) fences of \(sent.count) sessions"]
    if !kept.isEmpty { parts.append("\(kept.count) sessions kept for later") }
    if !quarantined.isEmpty { parts.append("\(quarantined.count) refused") }
    if report.wasStopped { parts.append("stopped") }
    if let hold = report.hold { parts.append("\(hold)") }
    return parts.joined(separator: ", ")
  }
}

/// Why a pass ends before all is sent.
enum PassEnd: Error {
  /// No request may leave now.
  case held(Report.Hold)
  /// The server cannot take anything now.
  case failed(ServerFailure)
  /// The pass was cancelled, perhaps in mid-request.
  case stopped(ServerFailure?)
}

extension Sender {
  /// Clears up, takes up what was left behind, and lines up what is to be sent.
  func prepare(_ pass: inout Pass) async throws {
    let now = clock.wall()
    // Only while a recovery from the drive logs could not be completed.
    if store.recoveryNeed == .rolledBack { _ = try await store.lostBatches.doubtUnsent(except: pass.running) }
    try await settleClocks(&pass)
    // Before anything unfinished is ended: its fences are not to go because nobody could end it in time.
    try await cleanUp(&pass)
    if pass.mode.isCold {
      let ended = try await store.drives.endInterrupted(except: pass.running, at: now)
      if ended > 0 {
        logger.info("\(pass.mode) pass: ended \(ended) sessions that an earlier run left unfinished")
        pass.doubted = 0
      }
    }
    try await mend(pass, now)
    try await keepWithinQuota(pass)
    try await lineUp(&pass)
  }

  /// Sets right what damage has left. Fences whose session is missing wait for a cold pass.
  private func mend(_ pass: Pass, _ now: WallTime) async throws {
    let threshold = pass.mode.isCold ? now.earlier(by: settings.legacyThreshold) : WallTime(microseconds: .min)
    let adopted = try await store.orphans.adopt(lastSeenBefore: threshold, except: pass.running)
    if adopted > 0 { logger.info("\(pass.mode) pass: \(adopted) fences without a session have one again") }
    let doubtful = try await store.lostBatches.doubtDamaged(except: pass.running)
    if doubtful > 0 {
      logger.warning(
        "\(pass.mode) pass: the rows of \(doubtful) batches are damaged; the server is asked whether it has them")
    }
  }

  /// - Returns: Whether times were corrected.
  @discardableResult
  private func settleClocks(_ pass: inout Pass) async throws -> Bool {
    timekeeper.settle()
    let reading = timekeeper.read()
    let settled = try await store.clockSettlement.settle(
      bootID: clock.bootID, sinceBoot: reading.boot, now: reading.wall,
      isSure: reading.ruling.isConfirmed || pass.hasAskedForTime && reading.ruling.contradicting.isEmpty)
    pass.hasDoubtfulTimes = !settled.doubted.isEmpty
    for drive in settled.corrected {
      logger.notice(
        "drive \(drive) was recorded by a clock that was wrong; its times are right now (\(reading.ruling))")
    }
    for drive in settled.lost {
      logger.warning("drive \(drive) was recorded with a clock that was never set: it is quarantined")
    }
    return !settled.corrected.isEmpty
  }

  /// The time can turn out to be another one while a pass waits for its share of the spread, or for a server that hangs.
  func followClock(_ pass: inout Pass) async throws {
    guard clock.wall() >= .earliestTrusted else {
      await endCall(.cancelled)
      throw PassEnd.held(.clock)
    }
    guard try await settleClocks(&pass) else { return }
    let sessions = Array(Set(pass.queue.map(\.session)))
    let moved = try await store.outbox.batches(of: sessions, in: [.waiting, .sending, .quarantined])
    let byID = Dictionary(uniqueKeysWithValues: moved.map { ($0.id, $0) })
    pass.queue = pass.queue.compactMap { byID[$0.id] }
  }

  /// The same for a batch that is about to leave: an answer of the server can have shown that its fences are dated by a wrong clock.
  func followClock(_ pass: inout Pass, for batch: inout Batch) async throws {
    try await followClock(&pass)
    try await settleTimes(&pass)
    guard let current = pass.queue.first(where: { $0.id == batch.id }), current.driveStarted != batch.driveStarted
    else { return }
    batch = current
  }

  func lineUp(_ pass: inout Pass) async throws {
    let reader = StoreReader(store)
    // Not all sessions: a store keeps thousands, and a pass comes with each test.
    let sessions = try reader.unsentSessions(except: pass.running)
    let (chosen, skipped) = pass.mode.choose(from: sessions, running: pass.running)
    if let running = pass.running { pass.report.fencesOfRunningDrives = try reader.fencesToSend(fromDrive: running) }
    let ids = chosen.map(\.id)
    try await store.outbox.makeBatches(of: ids, limit: settings.fencesPerRequest, at: clock.wall())
    let states: [Batch.State] = [.waiting, .sending] + (pass.mode == .quarantined ? [.quarantined] : [])
    pass.queue = DeliveryOrder.sorted(try await store.outbox.batches(of: ids, in: states))
    pass.report.fencesWithoutSession = try reader.orphans(except: pass.running)
    log(pass, skipped: skipped, damaged: try reader.damagedRows())
  }

  private func log(_ pass: Pass, skipped: [(session: StoredSession, reason: String)], damaged: Int) {
    let groups = pass.queue.map { "\($0.test?.uuid ?? "no test yet"): \($0.fences)" }
    let shown = groups.prefix(20).joined(separator: ", ") + (groups.count > 20 ? ", \(groups.count - 20) more" : "")
    let what = groups.isEmpty ? "nothing to send" : "\(groups.count) groups of fences (\(shown))"
    logger.info("\(pass.mode) pass: \(what)")
    for (session, reason) in skipped where pass.mode.isCold || pass.mode == .warm {
      let fences = session.isWaiting ? session.waitingFences : session.quarantinedFences
      logger.info("\(pass.mode) pass: session \(session.id) with \(fences) fences \(reason): skipped")
    }
    if damaged > 0 {
      logger.error("\(pass.mode) pass: \(damaged) rows of the store are damaged; they are kept, and not sent")
    }
    let orphans = pass.report.fencesWithoutSession
    if orphans > 0 {
      let reason = pass.mode.isCold ? "are younger than submission.legacy-threshold" : "wait for a cold pass"
      logger.info("\(pass.mode) pass: \(orphans) fences without a session \(reason): skipped")
    }
  }
}

extension WallTime {
  func earlier(by duration: Duration) -> WallTime {
    WallTime(microseconds: microseconds.saturatingSubtracting(duration.inMicroseconds))
  }
}
