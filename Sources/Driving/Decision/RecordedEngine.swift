import Coverage
import OrderedJSON
import Pinging
import Positioning
import Store
import Submission

/// The engine of a drive and its journal: the log has an event before the engine handles it, and the store has what follows from it. A
/// pure value.
struct RecordedEngine: Sendable {
  /// Limits the size of a request, and the fences that a refused request delays (docs/protocol.md, 3.5).
  static let fencesPerSession = 400

  private static let checkpointInterval = Duration.seconds(4)

  private(set) var engine: Engine
  var journal: DriveJournal
  private var lastCheckpoint = DriveTime.start
  /// The receiver's model of the last line that names one: it is as long as the line, and seldom changes.
  private var loggedModel: String?
  /// The age at which a lost ping is known as lost.
  private let lostAfter: Duration

  init(_ engine: Engine, _ journal: DriveJournal, lostAfter: Duration) {
    (self.engine, self.journal, self.lostAfter) = (engine, journal, lostAfter)
  }

  /// Stores the first session.
  mutating func begin() -> [DriveEffect] { journal.apply([.sessionBegan(engine.sessions[0])], at: engine.now) }

  func isCheckpointDue(at now: DriveTime) -> Bool { now - lastCheckpoint >= Self.checkpointInterval }

  /// Writes the open fence and the drive log.
  mutating func checkpoint(at now: DriveTime) -> [DriveEffect] {
    lastCheckpoint = now
    return journal.checkpoint(engine.openFence, at: now)
  }

  /// Logs an event, applies it to the engine, and stores the changes.
  /// - Parameter time: When it happened. Only pings may have happened earlier; everything else happens now.
  mutating func record(
    _ kind: Event.Kind, at time: DriveTime, beside details: [JSON.Member] = []
  ) -> [DriveEffect] {
    let effects = letTimePass(to: time)
    guard engine.stopped == nil else { return effects }
    let event = kind.concernsPing ? Event(at: time, kind) : Event(at: moment(of: kind, at: time), kind)
    return effects + apply(event, beside: details)
  }

  /// The time of an event that is no ping: not before another one. A session can end the open fence, which may not last 0 s.
  private func moment(of kind: Event.Kind, at time: DriveTime) -> DriveTime {
    let moment = max(time, engine.latestChange)
    guard case .session = kind, let entered = beginOfOpenFence(ifMoved: moment) else { return moment }
    return entered + .microseconds(1)
  }

  /// A fix counts from the arrival of its position, even if pings sent after it have been counted already.
  mutating func record(_ positioned: PositionedFix, arrived: DriveTime, delivered: DriveTime) -> [DriveEffect] {
    let effects = letTimePass(to: delivered)
    guard engine.stopped == nil else { return effects }
    let arrived = max(.start, arrived)
    if let entered = beginOfOpenFence(ifMoved: arrived) {
      let next = entered + .microseconds(1)
      return effects + apply(Event(at: max(next, delivered), .fix(positioned.fix)), beside: details(of: positioned))
    }
    let isLate = arrived < engine.latestChange || engine.hasCountedPing(after: arrived)
    let event = Event(at: arrived, .fix(positioned.fix), delivered: isLate ? max(arrived, delivered) : nil)
    return effects + apply(event, beside: details(of: positioned))
  }

  private mutating func details(of positioned: PositionedFix) -> [JSON.Member] {
    guard let model = positioned.model, model != loggedModel else { return positioned.details }
    loggedModel = model
    return positioned.details + JSON.members(["model": .string(model)])
  }

  /// When the open fence was entered, if a fix that arrived at `time` would close it at that very moment: an event between its arrival and
  /// its delivery moved the fix before it to the same moment. Such a fix counts from its delivery, since no fence may last 0 s.
  private func beginOfOpenFence(ifMoved time: DriveTime) -> DriveTime? {
    guard let fence = engine.fences.last, fence.exited == nil, time <= fence.entered else { return nil }
    return fence.entered
  }

  private mutating func apply(_ event: Event, beside details: [JSON.Member]) -> [DriveEffect] {
    let line = journal.append(event, beside: details)
    let changes = engine.handle(event)
    return line + logStop(in: changes, by: event) + journal.apply(changes, at: engine.now)
  }

  /// A fence without a ping that is younger than a lost ping says nothing when the drive ends.
  mutating func excludeUnfinished(at now: DriveTime) -> [DriveEffect] {
    guard engine.pause == nil, let fence = engine.openFence, fence.pings == 0, now - fence.entered < lostAfter
    else { return [] }
    return record(.unmeasured("the drive ends before a ping has an outcome"), at: now)
  }

  mutating func letTimePass(to time: DriveTime) -> [DriveEffect] {
    let limit = DriveTime.start + engine.parameters.maximumDuration
    // Behind the limit, nothing can be recorded.
    let last = limit + .microseconds(-1)
    guard engine.stopped == nil, engine.now < limit, time >= limit else { return advance(to: time) }
    return excludeUnfinished(at: last) + advance(to: time)
  }

  private mutating func advance(to time: DriveTime) -> [DriveEffect] {
    let changes = engine.advance(to: time)
    guard !changes.isEmpty else { return [] }
    return logStop(in: changes, by: nil) + journal.apply(changes, at: engine.now)
  }

  /// Logs a stop that the engine decided on, so that a replay with other settings stops at the same time. The log has
  /// it before the store has its consequences, as with every event.
  private func logStop(in changes: [Effect], by event: Event?) -> [DriveEffect] {
    guard let stopped = engine.stopped, changes.contains(.stopped(stopped.reason)) else { return [] }
    if case .stop = event?.kind { return [] }
    return journal.append(Event(at: stopped.at, .stop(stopped.reason)))
  }

  /// The fences to submit of which the store has nothing, of a drive that has ended, with the stored ones of the same test: a test accepts
  /// one result only. If the store does not know the test, the stored ones are left to the store; if all of them are more than a request
  /// holds, the test is left to them, too.
  /// - Parameters:
  ///   - drive: The drive's id in the store.
  ///   - log: The path of its log; `nil` without one.
  func inMemory(as drive: Int64, log: String?) -> DriveInMemory {
    let stopped = engine.stopped ?? (engine.now, .user)
    let first = journal.firstUnstored
    let ended = engine.fences.filter { $0.exited != nil && $0.isSubmittable }
    let unstored = ended.filter { $0.number >= first }
    let sessions = engine.sessions.filter { session in unstored.contains { $0.session == session.number } }
    let stored = Set(sessions.filter { journal.isTestStored(of: $0) }.map(\.number))
    let whole = stored.filter { number in ended.count { $0.session == number } <= Self.fencesPerSession }
    return DriveInMemory(
      drive: drive, started: journal.started, ended: stopped.at, stopReason: stopped.reason,
      log: journal.waitingLines == 0 ? log : nil,
      sessions: sessions.map { session in
        let isLeft = stored.subtracting(whole).contains(session.number)
        return Session(
          number: session.number, testUUID: isLeft ? nil : session.testUUID, started: session.started,
          anchor: isLeft ? nil : session.anchor, finalized: session.finalized ?? engine.now,
          localAddress: session.localAddress, loopUUID: session.loopUUID, equipment: session.equipment)
      },
      fences: ended.filter { $0.number >= first || whole.contains($0.session) }, unstored: Set(unstored.map(\.number)))
  }
}
