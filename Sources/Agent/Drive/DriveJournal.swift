import Coverage
import DriveLog
import DriveStore
import Logging
import OrderedJSON

/// Keeps a drive on disk: its fences and sessions in the store, its events in the drive log.
///
/// On a full disk, the room that was set aside is given to the fences, and more of it asked for. What the disk refuses even so is kept in memory and
/// tried again with the next call; nothing is dropped as long as the process lives. A store that turns out to be damaged is made
/// whole, and the whole drive written to it again.
struct DriveJournal {
  private var recorder: DriveRecorder
  private let log: DriveLogWriter?
  private let ballast: Ballast
  private let onDiskFull: @Sendable () -> Void
  private let logger: Logger
  private var unsavedSessions: [Int: Session] = [:]
  private var unsavedFences: [Int: Fence] = [:]
  private var loopUUIDs: [Int: String] = [:]
  private var isEnded = false
  private var storeTrouble: String?
  private var logTrouble: String?

  /// - Parameter onDiskFull: Is called whenever a write meets that; there may be things that can go.
  init(
    recorder: DriveRecorder, log: DriveLogWriter?, ballast: Ballast, logger: Logger,
    onDiskFull: @escaping @Sendable () -> Void
  ) {
    self.recorder = recorder
    self.ballast = ballast
    self.log = log
    self.onDiskFull = onDiskFull
    self.logger = logger
  }

  var drive: Int64 { recorder.drive }

  /// Why something is not on disk yet, in one line; `nil` when all is.
  var trouble: String? { storeTrouble ?? logTrouble ?? (log?.isPaused == true ? Self.heldLog : nil) }

  private static let heldLog = "the disk is full: fences go to what was set aside for them, the drive log waits"

  /// What is not in the store yet.
  var unsavedFenceCount: Int { unsavedFences.count }

  /// Whether all of the drive is in the store, its end included.
  var isComplete: Bool { isEnded && unsavedFences.isEmpty && unsavedSessions.isEmpty }

  mutating func log(_ event: Event, beside details: [JSON.Member] = []) {
    withLog { try $0.append(event, beside: details) }
  }

  mutating func log(_ note: ClockNote) {
    withLog { try $0.append(note) }
  }

  private mutating func withLog(_ body: (DriveLogWriter) throws -> Void) {
    guard let log else { return }
    do {
      try body(log)
      logTrouble = nil
    } catch {
      if logTrouble == nil { logger.error("\(error); its lines wait in memory") }
      logTrouble = "\(error)"
    }
  }

  /// The host's clock was set: all times of the drive move with what is written next.
  mutating func setStart(_ started: WallTime) { recorder.started = started }

  mutating func setLoop(_ uuid: String, ofSession number: Int) { loopUUIDs[number] = uuid }

  /// Takes up what `effects` of the drive's engine changed. A session or fence that ended is in the store when this returns, if the disk allows;
  /// late pings to ended fences wait for the next call, or the next ``checkpoint(_:at:)``.
  mutating func take(_ effects: [Effect], of engine: Engine) {
    var isUrgent = false
    for effect in effects {
      switch effect {
      case .sessionBegan(let session), .sessionChanged(let session):
        unsavedSessions[session.number] = session
        isUrgent = true
      case .fenceClosed(let fence):
        unsavedFences[fence.number] = fence
        isUrgent = true
      case .fenceRevised(let fence): unsavedFences[fence.number] = fence
      case .stopped: isUrgent = true
      }
    }
    guard isUrgent else { return }
    withLog { try $0.seal(at: engine.now) }
    save(engine, at: engine.now)
  }

  /// Writes the open fence as it is now, and the drive log, so that a power cut costs no more of them than the time since the
  /// last call.
  mutating func checkpoint(_ engine: Engine, at now: DriveTime) {
    if let openFence = engine.openFence { unsavedFences[openFence.number] = openFence }
    save(engine, at: now)
    if let log, log.isPaused, ballast.keep() {
      log.isPaused = false
      logger.notice("the disk has room again; the drive log goes on")
    }
    withLog {
      try $0.seal(at: now)
      try $0.sync()
    }
  }

  /// To be repeated until the journal ``isComplete``: a drive has not ended in the store before its last fence is there.
  mutating func end(at time: DriveTime, reason: StopReason) {
    if unsavedFences.isEmpty, unsavedSessions.isEmpty {
      do {
        try recorder.end(at: time, reason: reason)
        isEnded = true
      } catch {
        note(error)
      }
    }
    log?.isPaused = false
    withLog { try $0.sync() }
    if let dropped = log?.linesDropped, dropped > 0 {
      logger.error(
        "the drive log lacks \(dropped) lines: there was no room for them on the disk; the fences are complete")
    }
  }

  private mutating func save(_ engine: Engine, at now: DriveTime) {
    do {
      do {
        try write(at: now)
      } catch  where StoreError.isDiskFull(error) && ballast.release() {
        log?.isPaused = true
        onDiskFull()
        logger.warning(
          "the disk is full; fences are written to what was set aside for them, the drive log waits; free some space")
        try write(at: now)
      } catch  where StoreError.isDamage(error) && storeTrouble == nil {
        logger.error("the store is damaged: \(error)")
        // Should that fail as well, all of it waits in memory.
        for session in engine.sessions { unsavedSessions[session.number] = session }
        for fence in engine.fences { unsavedFences[fence.number] = fence }
        if let openFence = engine.openFence { unsavedFences[openFence.number] = openFence }
        try recorder.repair()
        try write(at: now)
      }
      unsavedSessions.removeAll()
      unsavedFences.removeAll()
      if storeTrouble != nil { logger.notice("the store can be written again; nothing is missing in it") }
      storeTrouble = nil
    } catch {
      note(error)
    }
  }

  private mutating func write(at now: DriveTime) throws {
    try recorder.save(
      sessions: unsavedSessions.values.sorted { $0.number < $1.number },
      fences: unsavedFences.values.sorted { $0.number < $1.number }, seen: now, loopUUIDs: loopUUIDs)
  }

  private mutating func note(_ error: any Error) {
    if StoreError.isDiskFull(error) { onDiskFull() }
    let (reason, remedy) = StoreError.writeTrouble(error)
    if storeTrouble == nil {
      let advice = remedy.map { "; \($0)" } ?? ""
      logger.error("cannot write to the store: \(reason); fences wait in memory until it can be written\(advice)")
    }
    storeTrouble = "store: \(reason)"
  }
}
