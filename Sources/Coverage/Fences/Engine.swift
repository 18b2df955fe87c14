/// Cuts a drive into fences (docs/algorithm.md): events in, effects out.
///
/// A pure state machine. It waits for nothing, reads no clock and does no I/O. Time comes in with every event and with
/// ``advance(to:)``; ``nextDeadline`` is the time to which the caller must advance the engine when no event comes before.
public struct Engine: Sendable {
  /// The operator's settings; the server's limit shortens ``Parameters/maximumDuration``.
  public private(set) var parameters: Parameters
  /// The greatest time seen so far.
  public private(set) var now = DriveTime.start
  /// The time of the latest event that is no ping, or of the latest ping that counts in a fence, whichever is later. Other events of the
  /// past count from here, so that no fence ends before it began or before one of its pings.
  public var latestChange: DriveTime { max(latestEvent, countedPings.latestInFences) }

  /// All fences of the drive, in order of entry; the last one may be open.
  public var fences: [Fence] { track.all }
  /// All sessions of the drive; the last one is the current one.
  public private(set) var sessions = [Session(number: 0, started: .start)]
  /// All warnings of the drive, in order of their beginning.
  public private(set) var warnings: [Warning] = []
  /// The kind of link that carries the pings now.
  public private(set) var path: Path
  /// The modem's technology now; `nil` when it has none.
  public var technology: Technology? { track.radio.technology }
  /// When and why the drive ended; `nil` while it goes on.
  public private(set) var stopped: (at: DriveTime, reason: StopReason)?
  /// Why the probe itself sends no pings now; `nil`: it does, or there is no network.
  public private(set) var pause: String?
  /// The pings of the drive, whether or not they belong to a fence.
  public var pings: PingTotals { countedPings.totals }

  private var track = FenceTrack()
  private var latestEvent = DriveTime.start
  private var countedPings: CountedPings
  /// When the position was too inaccurate, also before the first accurate fix, and when the link was Wi-Fi: pings count in no fence then.
  private var inaccurate = TimeWindows(isOpen: true)
  private var onWiFi: TimeWindows

  /// An engine at the start of a drive.
  /// - Parameters:
  ///   - path: The kind of link at the start of the drive.
  ///   - keepsPings: Whether single pings are kept for ``drainPlacedPings()``.
  public init(parameters: Parameters = Parameters(), path: Path = .cellular, keepsPings: Bool = false) {
    self.parameters = parameters
    self.path = path
    countedPings = CountedPings(keepsPlaced: keepsPings)
    onWiFi = TimeWindows(isOpen: path == .wifi)
    if path == .wifi { warnings.begin(.wifi, from: .start) }
    warnOfMissingPosition(from: .start)
  }

  /// The fence in which the device is, with figures up to now; `nil` between fences.
  public var openFence: Fence? { track.openIndex.map { track.completed($0, at: now) } }

  // MARK: Time

  /// The next time at which ``advance(to:)`` changes something; `nil` after the end.
  public var nextDeadline: DriveTime? {
    guard stopped == nil else { return nil }
    var deadline = endOfDuration
    if !inaccurate.hasEnded { deadline = min(deadline, endOfPatience) }
    if now < beginOfWarnings { deadline = min(deadline, beginOfWarnings) }
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
  private var beginOfWarnings: DriveTime { .start + parameters.warningAfter }

  private mutating func meetDeadline() -> [Effect] {
    if now >= endOfDuration { return stop(.duration) }
    if !inaccurate.hasEnded, now >= endOfPatience { return stop(.insufficientAccuracy) }
    warnOfMissingPosition(from: now)
    return []
  }

  // MARK: Events

  /// Applies one event. Events after the end of the drive have no effect.
  public mutating func handle(_ event: Event) -> [Effect] {
    var effects = advance(to: max(event.at, event.delivered ?? event.at))
    guard stopped == nil else { return effects }
    if event.kind.concernsPing { return effects + count(event) }

    if event.delivered != nil, case .fix(let fix) = event.kind {
      return effects + apply(fix, arrived: event.at) + advance(to: now)
    }
    if case .modem(let reading) = event.kind {
      // It changes no fence's bounds: a fix that arrived before it still counts from its arrival.
      track.radio.report(technology, reading, at: event.at)
      return effects
    }
    if case .equipment(let equipment) = event.kind {
      sessions[currentSession].equipment = equipment
      return effects + [.sessionChanged(sessions[currentSession])]
    }
    latestEvent = max(latestChange, event.at)
    switch event.kind {
    case .ping, .late, .duplicate, .modem, .equipment: break
    case .fix(let fix): effects += apply(fix)
    case .path(let path): effects += apply(path)
    case .unmeasured(let reason):
      pause = reason
      if reason != nil, let index = track.openIndex, !fences[index].overlapsPause {
        effects += change(index) { $0.overlapsPause = true }
      }
    case .radio(let technology):
      track.radio.report(technology == Technology.none ? nil : technology, track.radio.modem, at: latestEvent)
    case .session(let grant): effects += apply(grant)
    case .clockSet(let step): effects += moveAnchors(by: step)
    case .stop(let reason): effects += stop(reason)
    }
    return effects + advance(to: now)
  }

  // MARK: Fixes

  /// A fix at or beyond the radius ends the fence. A fix inside gives it the present technology; an unknown one changes nothing
  /// (docs/algorithm.md).
  private mutating func apply(_ fix: Fix) -> [Effect] {
    guard let centre = fix.coordinate, parameters.accepts(fix) else {
      inaccurate.open(at: latestChange)
      warnOfMissingPosition(from: latestChange)
      return []
    }
    inaccurate.close(at: latestChange)
    warnings.end(.waitingForGPS, at: latestChange)
    guard let index = track.openIndex else {
      openFence(at: fix, centre: centre)
      return []
    }
    guard fences[index].centre.distance(to: centre) >= fences[index].radius else {
      if let technology { track.all[index].technology = technology }
      return []
    }
    let effects = closeFence()
    openFence(at: fix, centre: centre)
    return effects
  }

  /// Applies a late fix at `arrived`, or at the latest other event if that is later. Pings that were sent after that time and are
  /// counted already are taken back and counted again.
  private mutating func apply(_ fix: Fix, arrived: DriveTime) -> [Effect] {
    let moment = max(arrived, latestEvent, countedPings.horizon, track.radio.begin)
    let later = countedPings.removeAll(since: moment)
    for ping in later { if case .fence(let index) = ping.place { track.count(ping.event, in: index, by: -1) } }
    latestEvent = moment
    var effects = apply(fix)
    for ping in later { effects += count(ping.event) }
    return effects
  }

  private mutating func openFence(at fix: Fix, centre: Coordinate) {
    var fence = Fence(
      number: fences.count, session: currentSession, entered: latestChange, fix: fix, centre: centre,
      radius: parameters.radius(of: fix), technology: technology, isSubmittable: path != .wifi)
    fence.overlapsPause = pause != nil
    track.open(fence, pingInterval: parameters.pingInterval)
  }

  private mutating func closeFence() -> [Effect] {
    if let index = track.openIndex, latestChange - fences[index].entered < parameters.pingInterval {
      // No ping was due in it: it is no dead zone.
      track.all[index].overlapsPause = true
    }
    return track.close(at: latestChange).map { [.fenceClosed($0)] } ?? []
  }

  private mutating func warnOfMissingPosition(from time: DriveTime) {
    guard now >= beginOfWarnings, inaccurate.isOpen else { return }
    // A late event must not start the warning early.
    warnings.begin(.waitingForGPS, from: max(time, beginOfWarnings))
  }

  // MARK: Pings

  private mutating func count(_ event: Event) -> [Effect] {
    let place = place(ofPingAt: event.at)
    countedPings.append(event, in: place)
    guard case .fence(let index) = place else { return [] }
    let wasSubmittable = fences[index].isSubmittable
    track.count(event, in: index, by: 1)
    return fences[index].exited != nil || fences[index].isSubmittable != wasSubmittable ? [revision(of: index)] : []
  }

  /// Changes an open fence.
  /// - Returns: Its revision, if that changes whether it is submittable: a host that dies now leaves the fence as it was stored.
  private mutating func change(_ index: Int, _ body: (inout Fence) -> Void) -> [Effect] {
    let wasSubmittable = fences[index].isSubmittable
    body(&track.all[index])
    return fences[index].isSubmittable == wasSubmittable ? [] : [revision(of: index)]
  }

  private mutating func revision(of index: Int) -> Effect {
    track.all[index] = track.completed(index, at: now)
    return .fenceRevised(fences[index])
  }

  /// Where a ping that was sent at `time` counts (docs/algorithm.md, 4): it depends on the time of sending alone, whenever the outcome
  /// comes. So quick and slow outcomes of neighbouring pings count alike.
  private func place(ofPingAt time: DriveTime) -> PingPlace {
    // On Wi-Fi from its very first moment; inaccurate only after it.
    if onWiFi.contain(time, withBegin: true) { return .paused }
    if inaccurate.contain(time, withBegin: false) { return .outside }
    return track.index(at: time).map(PingPlace.fence) ?? .outside
  }

  /// Whether a ping that was sent after `time` is counted already. A fix that counts from `time` must then say when it was delivered
  /// (``Event/delivered``), so that such pings move to where they belong.
  public func hasCountedPing(after time: DriveTime) -> Bool { countedPings.latest > time }

  /// The pings with an outcome whose places no late fix can change any more, by place: those that were sent some seconds ago, and all of
  /// them after the end of the drive. These numbers never decrease.
  public var settledPings: PingPlaceCounts { countedPings.settled }

  /// The pings with an outcome whose places are final, in the order in which they were counted, without those of earlier calls; after the
  /// end of the drive, all that are left. Empty unless the engine keeps pings.
  public mutating func drainPlacedPings() -> [PlacedPing] { countedPings.drainPlaced() }

  // MARK: Path

  private mutating func apply(_ path: Path) -> [Effect] {
    let changesWiFi = (path == .wifi) != (self.path == .wifi)
    self.path = path
    guard changesWiFi else { return [] }
    if path == .wifi {
      onWiFi.open(at: latestChange)
      warnings.begin(.wifi, from: latestChange)
    } else {
      onWiFi.close(at: latestChange)
      warnings.end(.wifi, at: latestChange)
    }
    guard let index = track.openIndex, track.all[index].exclude() else { return [] }
    return [revision(of: index)]
  }

  // MARK: Sessions

  private var currentSession: Int { sessions.count - 1 }

  private mutating func apply(_ grant: SessionGrant) -> [Effect] {
    if let limit = grant.maximumDuration { parameters.maximumDuration = min(parameters.maximumDuration, limit) }
    let anchor = grant.anchor ?? latestChange
    let known = sessions[currentSession].testUUID
    if known == nil || known == grant.testUUID {
      sessions[currentSession].testUUID = grant.testUUID
      sessions[currentSession].anchor = anchor
      sessions[currentSession].localAddress = grant.localAddress ?? sessions[currentSession].localAddress
      sessions[currentSession].loopUUID = grant.loopUUID ?? sessions[currentSession].loopUUID
      return [.sessionChanged(sessions[currentSession])]
    }
    let ended = closeFence() + finalizeSession()
    let next = Session(
      number: sessions.count, testUUID: grant.testUUID, started: latestChange, anchor: anchor,
      localAddress: grant.localAddress, loopUUID: grant.loopUUID, equipment: sessions[currentSession].equipment)
    sessions.append(next)
    return ended + [.sessionBegan(next)]
  }

  /// The server adds the offsets to the anchor's wall time, which was wrong by `step`. Offsets that are longer by `step` give the true time.
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

  /// A stop counts from the greatest time seen, so that no fence ends before one of its pings.
  private mutating func stop(_ reason: StopReason) -> [Effect] {
    latestEvent = max(latestChange, now)
    let effects = closeFence() + finalizeSession()
    stopped = (latestChange, reason)
    countedPings.end()
    return effects + [.stopped(reason)]
  }
}
