import Coverage
import Pinging

/// The end of a drive, by a stop or at its limit. The pings on their way get their verdicts first: an answer is known at once, a loss only after
/// the timeout, and both count alike (docs/algorithm.md, 4).
extension Drive {
  /// When the drive ends by itself: the server's limit can shorten the operator's, even to a time that is past.
  var limit: DriveTime { .start + engine.parameters.maximumDuration }

  /// Whether the drive has ended and waits for verdicts. Nothing else belongs to it any more.
  var isEnding: Bool { endsAt != nil && !isOver }

  /// Ends the drive at `time`, when its pings have their verdicts; when called again, without waiting for them.
  mutating func stop(at time: DriveTime) -> [DriveEffect] {
    if let endsAt { return end(at: endsAt) }
    guard let target = pings.target else { return end(at: time) }
    endsAt = time
    return [.stopPings(target)]
  }

  /// Ends the wait with the last verdict of the target.
  mutating func endWait(after event: PingEvent) -> [DriveEffect] {
    guard isEnding, let endsAt, event.kind == .finished, event.target == pings.target else { return [] }
    return end(at: endsAt)
  }

  /// Ends the wait when it has lasted too long: a service ends within 5 s.
  mutating func endWait(at now: DriveTime) -> [DriveEffect] {
    guard let endsAt, now - endsAt > min(options.pingTimeout + options.pingInterval, .seconds(3)) else { return [] }
    return end(at: endsAt)
  }

  private mutating func end(at time: DriveTime) -> [DriveEffect] {
    time >= limit
      ? recorded.letTimePass(to: time)
      : recorded.excludeUnfinished(at: time) + recorded.record(.stop(.user), at: time)
  }

  /// Writes the rest of a drive that is over.
  mutating func ended(at now: DriveTime) -> [DriveEffect] {
    let stopped = engine.stopped ?? (now, .user)
    noteSilence(at: now)
    return recorded.checkpoint(at: stopped.at) + [.proceed(.ending(at: stopped.at, stopped.reason))]
  }

  /// - Parameter now: The end of a drive that has not stopped.
  func summary(drive: Int64, capture: CaptureSummary?, at now: DriveTime) -> DriveSummary {
    let stopped = engine.stopped ?? (now, .user)
    return DriveSummary(
      drive: drive, link: link.name, fences: engine.fences.count,
      submittableFences: engine.fences.filter(\.isSubmittable).count,
      totals: reporting.totals(of: engine), lasted: stopped.at.sinceStart, reason: stopped.reason,
      capture: capture, silence: reporting.silenceReason, fencelessReason: reporting.fencelessReason(of: engine),
      unsentReason: reporting.unsentReason, target: options.target?.target)
  }
}
