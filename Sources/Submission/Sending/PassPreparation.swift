import Coverage
import Logging
import Store

/// Repairs and cleans up the store before a pass, and chooses its sessions. Makes and reads their batches when the server can be reached.
struct PassPreparation: PassStep {
  let parts: PassParts
  private var dating: DriveDating { DriveDating(parts: parts) }

  func prepare(_ pass: inout Pass) async throws {
    // The start does not read all of a large store, and nothing is sent from a damaged one.
    try await store.checkFile()
    let now = clock.wall()
    // Set only while a recovery from the drive logs could not be completed.
    if store.recoveryNeed == .rolledBack { _ = try await store.lostBatches.doubtUnsent(except: pass.running) }
    try await dating.correctTimes(&pass)
    // Before interrupted drives are ended: fences of an unfinished session must not expire, because no earlier pass
    // could send them.
    try await housekeeping.deleteOld(&pass)
    if pass.mode.isCold {
      let ended = try await store.drives.endInterrupted(except: pass.running)
      if ended > 0 {
        logger.info("\(pass.mode) pass: ended \(counted(ended, "session")) that an earlier run left unfinished")
        pass.doubts.oldFences = 0
      }
    }
    let interrupted = try await store.speedTests.endInterrupted()
    if interrupted > 0 {
      logger.info("\(pass.mode) pass: \(counted(interrupted, "speed test")) ended without a result, as its process did")
    }
    try await repair(pass, now)
    try await housekeeping.keepWithinQuota(except: pass.running)
    try await choose(&pass)
  }

  /// If fences are too old by a clock that may be wrong: asks the server for the time, and deletes the fences if the
  /// server agrees.
  func confirmAge(_ pass: inout Pass) async throws {
    guard pass.doubts.oldFences > 0 else { return }
    logger.notice(
      """
      \(pass.mode) pass: \(counted(pass.doubts.oldFences, "fence")) too old to be sent if the clock is right; asking the server
      """
    )
    await registration.doubt()
    _ = try await registration.clientUUID(for: pass.exchange)
    guard housekeeping.isAgeConfirmed else { return }
    try await housekeeping.deleteOld(&pass)
    try await choose(&pass)
  }

  /// Puts the fences of the chosen sessions into batches, and the batches into the queue.
  func lineUp(_ pass: inout Pass) async throws {
    guard !pass.sessions.isEmpty else { return }
    try await store.outbox.makeBatches(of: pass.sessions, limit: parts.settings.fencesPerRequest, at: clock.wall())
    pass.queue = DeliveryOrder.sorted(try await store.outbox.batches(of: pass.sessions, in: pass.mode.states))
    pass.sessions = []
    let batches = pass.queue.map { "\($0.test?.uuid ?? "no test yet"): \($0.fences)" }
    let shown = batches.prefix(20).joined(separator: ", ") + (batches.count > 20 ? ", \(batches.count - 20) more" : "")
    logger.info("\(pass.mode) pass: \(counted(batches.count, "batch", "batches")) of fences (\(shown))")
  }

  /// Repairs rows after damage. Fences whose session is missing wait for a cold pass.
  private func repair(_ pass: Pass, _ now: WallTime) async throws {
    let threshold = pass.mode.isCold ? now.earlier(by: parts.settings.legacyThreshold) : WallTime(microseconds: .min)
    let adopted = try await store.orphans.adopt(
      lastSeenBefore: threshold, orAfter: pass.mode.isCold ? now : nil, except: pass.running)
    if adopted > 0 { logger.info("\(pass.mode) pass: \(counted(adopted, "fence")) without a session got a new one") }
    let returned = try await store.lostBatches.followFences()
    if returned > 0 {
      logger.info("\(pass.mode) pass: \(counted(returned, "batch", "batches")) got the session of their fences")
    }
    let doubtful = try await store.lostBatches.doubtDamaged(except: pass.running)
    if doubtful > 0 {
      logger.warning(
        "\(pass.mode) pass: \(counted(doubtful, "batch", "batches")) with damaged rows; asking the server whether it has them"
      )
    }
  }

  private func choose(_ pass: inout Pass) async throws {
    let running = pass.running
    // Reads unsent sessions only: a store has thousands of sessions, and each request for a test starts a pass.
    let sessions = try await store.reading { try $0.unsentSessions(except: running) }
    let (chosen, skipped) = pass.mode.choose(from: sessions, running: running)
    if let running {
      pass.report.fencesOfRunningDrives = try await store.reading { try $0.fencesToSend(fromDrive: running) }
    }
    pass.sessions = try await store.outbox.sendable(chosen.map(\.id), in: pass.mode.states)
    pass.speedTests = try await speedTests(pass)
    pass.report.fencesWithoutSession = try await store.reading { try $0.orphans(except: running) }
    log(pass, skipped: skipped, damaged: try await store.inspection.damagedRows())
  }

  private func speedTests(_ pass: Pass) async throws -> [StoredSpeedTest] {
    // A drive's pass also sends the waiting speed tests: they belong to no session.
    let elsewhere = try await store.speedTests.unsentElsewhere(than: server.url)
    if elsewhere > 0 {
      logger.info("\(pass.mode) pass: \(counted(elsewhere, "speed test")) of another control server: skipped")
    }
    return try await store.speedTests.unsent(at: server.url, withQuarantined: pass.mode == .quarantined)
  }

  private func log(_ pass: Pass, skipped: [(session: StoredSession, reason: String)], damaged: Int) {
    var parts = pass.sessions.isEmpty ? [] : ["\(counted(pass.sessions.count, "session"))"]
    if !pass.speedTests.isEmpty { parts.append(counted(pass.speedTests.count, "speed test")) }
    logger.info("\(pass.mode) pass: \(parts.isEmpty ? "nothing to send" : parts.joined(separator: ", "))")
    for (session, reason) in skipped where pass.mode.isCold || pass.mode == .warm {
      let fences = session.isWaiting ? session.waitingFences : session.quarantinedFences
      logger.info("\(pass.mode) pass: session \(session.id) with \(counted(fences, "fence")) \(reason): skipped")
    }
    if damaged > 0 {
      logger.error("\(pass.mode) pass: \(counted(damaged, "row")) of the store damaged: kept, and not sent")
    }
    let orphans = pass.report.fencesWithoutSession
    if orphans > 0 {
      let reason = pass.mode.isCold ? "younger than submission.legacy-threshold" : "until a cold pass"
      logger.info("\(pass.mode) pass: \(counted(orphans, "fence")) without a session skipped, \(reason)")
    }
  }
}
