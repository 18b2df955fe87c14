/// Cuts a drive into fences (spec 2): events in, effects out.
///
/// A pure state machine. It waits for nothing, reads no clock and does no I/O. Time comes in with every event and with
/// ``advance(to:)``; ``nextDeadline`` says when the engine wants to be advanced though nothing happens.
public struct Engine: Sendable {
  public private(set) var parameters: Parameters
  /// The greatest moment seen so far.
  public private(set) var now = DriveTime.start
  /// The latest moment at which anything but a ping happened, or at which a ping of a fence was sent. An event of the past, a
  /// ping apart, counts as of here, so that no fence ends before it began, or before a ping that it holds.
  public var latestChange: DriveTime { max(latestEvent, latestPing) }

  /// All fences of the drive, in order of entry; the last one may be open.
  public private(set) var fences: [Fence] = []
  /// All sessions of the drive; the last one is the current one.
  public private(set) var sessions = [Session(number: 0, started: .start)]
  public private(set) var warnings: [Warning] = []
  public private(set) var path: Path
  public private(set) var technology: Technology?
  /// When and why the drive ended; `nil` while it goes on.
  public private(set) var stopped: (at: DriveTime, reason: StopReason)?

  /// Pings with an outcome, whether or not they belong to a fence.
  public private(set) var pings = 0
  public private(set) var pingsAnswered = 0
  /// Pings that belong to no fence: sent outside of one, while the position was inaccurate, or on Wi-Fi.
  public private(set) var pingsUnassigned = 0

  /// Of the last fences; kept until no more of a fence's pings can be answered in time.
  private var samples: [PingSamples] = []
  private var latestEvent = DriveTime.start
  private var latestPing = DriveTime.start
  private var recentPings = RecentPings()
  private var earliestWarning: DriveTime?
  private var inaccurateWindows: [InaccurateWindow] = []
  private var hasHadAccurateFix = false
  private var warningIsDue = false

  /// - Parameter path: The link at the start of the drive.
  public init(parameters: Parameters = Parameters(), path: Path = .cellular) {
    self.parameters = parameters
    self.path = path
    if path == .wifi { warn(.wifi, from: .start) }
  }

  /// The fence that the drive is in; `nil` between fences.
  public var openFence: Fence? {
    guard let index = openIndex else { return nil }
    var fence = fences[index]
    if let place = samplesPlace(of: index) { samples[place].complete(&fence.figures) }
    return fence
  }

  private var openIndex: Int? {
    guard let last = fences.indices.last, fences[last].exited == nil else { return nil }
    return last
  }

  // MARK: Time

  /// When ``advance(to:)`` has something to do; `nil` after the end.
  public var nextDeadline: DriveTime? {
    guard stopped == nil else { return nil }
    var deadline = endOfDuration
    if !hasHadAccurateFix { deadline = min(deadline, endOfPatience) }
    if !warningIsDue { deadline = min(deadline, .start + parameters.warningAfter) }
    return deadline
  }

  /// Lets time pass up to `time`; each deadline on the way takes effect at its own moment, or now if it is already past.
  public mutating func advance(to time: DriveTime) -> [Effect] {
    var effects: [Effect] = []
    while let deadline = nextDeadline, deadline <= max(time, now) {
      now = max(now, deadline)
      effects += meetDeadline()
    }
    now = max(now, time)
    return effects
  }

  private var endOfDuration: DriveTime { .start + parameters.maximumDuration }
  private var endOfPatience: DriveTime { .start + parameters.giveUpAfter }

  private mutating func meetDeadline() -> [Effect] {
    if now >= endOfDuration { return stop(.duration) }
    if !hasHadAccurateFix, now >= endOfPatience { return stop(.insufficientAccuracy) }
    warningIsDue = true
    warnOfMissingPosition(from: now)
    return []
  }

  // MARK: Events

  /// Takes one event; events after the end of the drive are ignored.
  public mutating func handle(_ event: Event) -> [Effect] {
    var effects = advance(to: max(event.at, event.delivered ?? event.at))
    guard stopped == nil else { return effects }
    if event.kind.concernsPing { return effects + takePing(event) }

    if event.delivered != nil, case .fix(let fix) = event.kind {
      return effects + take(fix, arrived: event.at) + advance(to: now)
    }
    latestEvent = max(latestChange, event.at)
    switch event.kind {
    case .ping, .late, .duplicate: break
    case .fix(let fix): effects += take(fix)
    case .path(let path): effects += take(path)
    case .radio(let technology): self.technology = technology == Technology.none ? nil : technology
    case .session(let grant): effects += take(grant)
    case .clockSet(let step): effects += moveAnchors(by: step)
    case .stop(let reason): effects += stop(reason)
    }
    return effects + advance(to: now)
  }

  // MARK: Fixes

  private mutating func take(_ fix: Fix) -> [Effect] {
    guard let centre = fix.coordinate, parameters.accepts(fix) else {
      openInaccurateWindow()
      return []
    }
    closeInaccurateWindow()
    hasHadAccurateFix = true
    guard let index = openIndex else {
      openFence(at: fix, centre: centre)
      return []
    }
    guard fences[index].centre.distance(to: centre) >= fences[index].radius else {
      if let technology { fences[index].technology = technology }
      return []
    }
    let effects = closeFence()
    openFence(at: fix, centre: centre)
    return effects
  }

  /// Takes a fix that counts from a moment of the past, but from no moment before another event. Pings that were sent behind that moment
  /// and have been counted are counted once more.
  private mutating func take(_ fix: Fix, arrived: DriveTime) -> [Effect] {
    let moment = max(arrived, latestEvent, recentPings.horizon)
    let later = recentPings.take(since: moment)
    for ping in later { uncount(ping) }
    (latestEvent, latestPing) = (moment, recentPings.latestOfFences)
    // A warning that has fallen due meanwhile begins no sooner for that.
    earliestWarning = .start + parameters.warningAfter
    var effects = take(fix)
    earliestWarning = nil
    for ping in later { effects += takePing(ping.event) }
    return effects
  }

  private mutating func uncount(_ ping: RecentPings.Entry) {
    switch ping.event.kind {
    case .ping(let outcome):
      pings -= 1
      if outcome.isAnswered { pingsAnswered -= 1 }
      guard let index = ping.fence else {
        pingsUnassigned -= 1
        return
      }
      fences[index].uncount(outcome)
      if let place = samplesPlace(of: index) { samples[place].remove(outcome, sent: ping.event.at) }
    case .late: if let index = ping.fence { fences[index].figures.late -= 1 }
    case .duplicate: if let index = ping.fence { fences[index].figures.duplicates -= 1 }
    case .fix, .path, .radio, .session, .clockSet, .stop: break
    }
  }

  private mutating func openFence(at fix: Fix, centre: Coordinate) {
    samples.append(PingSamples(interval: parameters.pingInterval))
    fences.append(
      Fence(
        number: fences.count, session: currentSession, entered: latestChange, fix: fix, centre: centre,
        radius: parameters.radius(of: fix), technology: technology, isSubmittable: path != .wifi))
  }

  private mutating func closeFence() -> [Effect] {
    guard let index = openIndex else { return [] }
    fences[index].exited = latestChange
    completeFigures(of: index)
    forgetSamples()
    return [.fenceClosed(fences[index])]
  }

  private mutating func forgetSamples() {
    let oldest = DriveTime(microseconds: latestChange.microseconds - PingSamples.memory)
    let forgotten = fences.suffix(samples.count).prefix { $0.exited.map { $0 < oldest } ?? false }
    samples.removeFirst(forgotten.count)
  }

  /// Where the pings of a fence are among ``samples``; `nil` when they are forgotten.
  private func samplesPlace(of index: Int) -> Int? {
    let place = index - (fences.count - samples.count)
    return place >= 0 ? place : nil
  }

  private mutating func completeFigures(of index: Int) {
    if let place = samplesPlace(of: index) { samples[place].complete(&fences[index].figures) }
  }

  // MARK: Inaccurate positions

  private mutating func openInaccurateWindow() {
    if inaccurateWindows.last?.isOpen != true { inaccurateWindows.append(InaccurateWindow(begin: latestChange)) }
    warnOfMissingPosition(from: latestChange)
  }

  private mutating func closeInaccurateWindow() {
    if inaccurateWindows.last?.isOpen == true { inaccurateWindows[inaccurateWindows.count - 1].end = latestChange }
    endWarning(.waitingForGPS)
  }

  private mutating func warnOfMissingPosition(from time: DriveTime) {
    let isMissing = !hasHadAccurateFix || inaccurateWindows.last?.isOpen == true
    if warningIsDue, isMissing { warn(.waitingForGPS, from: max(time, earliestWarning ?? time)) }
  }

  // MARK: Pings

  private mutating func takePing(_ event: Event) -> [Effect] {
    let index = path == .wifi || positionWasInaccurate(at: event.at) ? nil : fence(at: event.at)
    recentPings.note(event, in: index)
    switch event.kind {
    case .ping(let outcome):
      pings += 1
      if outcome.isAnswered { pingsAnswered += 1 }
      guard let index else {
        pingsUnassigned += 1
        return []
      }
      latestPing = max(latestPing, event.at)
      fences[index].count(outcome)
      if let place = samplesPlace(of: index) { samples[place].add(outcome, sent: event.at) }
    case .late: if let index { fences[index].figures.late += 1 }
    case .duplicate: if let index { fences[index].figures.duplicates += 1 }
    case .fix, .path, .radio, .session, .clockSet, .stop: return []
    }
    guard let index, fences[index].exited != nil else { return [] }
    completeFigures(of: index)
    return [.fenceRevised(fences[index])]
  }

  /// The fence in which `time` lies; the very first and last moment of a fence belong to none (spec 2.5).
  private func fence(at time: DriveTime) -> Int? {
    guard let index = fences.lastIndex(where: { $0.entered < time }) else { return nil }
    guard let exited = fences[index].exited else { return index }
    return time < exited ? index : nil
  }

  private func positionWasInaccurate(at time: DriveTime) -> Bool {
    guard let window = inaccurateWindows.last(where: { $0.begin < time }) else { return false }
    return window.end.map { time < $0 } ?? true
  }

  // MARK: Path

  private mutating func take(_ path: Path) -> [Effect] {
    let changesWiFi = (path == .wifi) != (self.path == .wifi)
    self.path = path
    guard changesWiFi else { return [] }
    if path == .wifi { warn(.wifi, from: latestChange) } else { endWarning(.wifi) }
    guard let index = openIndex, fences[index].isSubmittable else { return [] }
    fences[index].isSubmittable = false
    completeFigures(of: index)
    return [.fenceRevised(fences[index])]
  }

  // MARK: Sessions

  private var currentSession: Int { sessions.count - 1 }

  private mutating func take(_ grant: SessionGrant) -> [Effect] {
    if let limit = grant.maximumDuration { parameters.maximumDuration = min(parameters.maximumDuration, limit) }
    let anchor = grant.anchor ?? latestChange
    let known = sessions[currentSession].testUUID
    if known == nil || known == grant.testUUID {
      sessions[currentSession].testUUID = grant.testUUID
      sessions[currentSession].anchor = anchor
      return [.sessionChanged(sessions[currentSession])]
    }
    let ended = closeFence() + finalizeSession()
    let next = Session(number: sessions.count, testUUID: grant.testUUID, started: latestChange, anchor: anchor)
    sessions.append(next)
    return ended + [.sessionBegan(next)]
  }

  /// The server adds offsets to the time that it was told, which was wrong; longer offsets give the true time all the same.
  private mutating func moveAnchors(by step: Duration) -> [Effect] {
    sessions.indices.compactMap { index in
      guard let anchor = sessions[index].anchor else { return nil }
      sessions[index].anchor = anchor + (.zero - step)
      return .sessionChanged(sessions[index])
    }
  }

  private mutating func finalizeSession() -> [Effect] {
    sessions[currentSession].finalized = latestChange
    return [.sessionChanged(sessions[currentSession])]
  }

  // MARK: Stop

  /// A stop counts from the greatest moment seen, so that no fence ends before a ping that it holds.
  private mutating func stop(_ reason: StopReason) -> [Effect] {
    latestEvent = max(latestChange, now)
    let effects = closeFence() + finalizeSession()
    stopped = (latestChange, reason)
    return effects + [.stopped(reason)]
  }

  // MARK: Warnings

  private mutating func warn(_ kind: Warning.Kind, from: DriveTime) {
    guard !warnings.contains(where: { $0.kind == kind && $0.to == nil }) else { return }
    warnings.append(Warning(kind: kind, from: from, to: nil))
  }

  private mutating func endWarning(_ kind: Warning.Kind) {
    guard let index = warnings.lastIndex(where: { $0.kind == kind && $0.to == nil }) else { return }
    if warnings[index].from >= latestChange {
      warnings.remove(at: index)
    } else {
      warnings[index].to = latestChange
    }
  }
}

/// A stretch of time in which the position was too inaccurate to say where a ping was sent.
private struct InaccurateWindow: Sendable {
  let begin: DriveTime
  var end: DriveTime?

  var isOpen: Bool { end == nil }

}
