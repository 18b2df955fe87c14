import Coverage
import Store
import Submission

/// Commands that work on the store.
extension Service {
  /// Runs a pass, and returns when it has ended. A pass under way is waited for: the sender runs one at a time.
  func submit(_ mode: PassMode, _ urgency: ServerGate.Urgency) async -> (line: String, outcome: CommandOutcome) {
    logger.notice("command: submit, \(mode)\(urgency == .forced ? ", forced" : "")")
    do {
      let report = try await environment.sender.pass(mode, urgency: urgency)
      return (report.line, report.outcome)
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
