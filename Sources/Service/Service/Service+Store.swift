import Coverage
import Store
import Submission

/// Commands that work on the store.
extension Service {
  /// The present state. The store is read beside the writer, so that no fence waits for it; when it cannot be read, the
  /// status says so.
  func status() async -> ServiceStatus {
    var status = track.status(at: .now)
    status.sender = await environment.sender.status
    status.lastPass = await environment.sender.lastPass
    let clock = environment.timekeeper.read()
    status.clock = ClockStatus(selection: clock.selection, hostAhead: clock.hostLead)
    status.disk = track.disk(decision, freeBytes: environment.store.directory.room)
    status.disk.stateBytes = environment.store.directory.bytes
    if let loop { status.loop = LoopStatus(await loop.running.memory, of: loop.running.count) }
    do {
      let running = await environment.sender.runningDrive
      status.waiting = try await environment.store.reading { try $0.unsentData(except: running) }
      if let line = readTrouble.end("the store can be read again") { logger.notice("\(line)") }
    } catch {
      status.disk.isStoreReadable = false
      let line = readTrouble.note("the store cannot be read: \(StoreError.line(error))")
      if let line { logger.warning("\(line)") }
    }
    return status
  }

  /// Runs a pass, and returns when it has ended. A pass under way is waited for: the sender runs one at a time.
  func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome) {
    logger.notice("command: submit, \(mode)\(urgency == .forced ? ", forced" : "")")
    do {
      let report = try await environment.sender.pass(mode, urgency: urgency)
      let kept = try await environment.store.reading { try $0.keptSessions() }
      return (report.line + (kept > 0 ? "; \(keptWords(kept))" : ""), report.outcome)
    } catch {
      if let trouble = StoreError.sendingTrouble(error) {
        return ("not submitted: \(trouble); waiting data stays stored", .kept)
      }
      return ("the store fails: \(StoreError.line(error))", .failed)
    }
  }

  /// Refuses a session of a running drive: its fences are still being written. The running drives, one a link, have the highest
  /// ids.
  func forget(_ target: ForgetTarget) async -> (line: String, outcome: CommandOutcome) {
    logger.notice("command: forget \(target)")
    // A recovery that has read the log before the note in it would restore the session.
    await recovery.pause()
    forgetting += 1
    defer { forgetting -= 1 }
    do {
      if case .session(let id) = target, let running = await environment.sender.runningDrive,
        let stored = try await environment.store.reading({ try $0.session(id: id) }), stored.drive >= running
      {
        return ("session \(id) is being recorded; stop the drive first (\(Program.name) stop)", .failed)
      }
      return (try await Forgetting.forget(target, in: environment.store).joined(separator: "\n"), .done)
    } catch {
      return ("\(StoreError.line(error))", .failed)
    }
  }
}
