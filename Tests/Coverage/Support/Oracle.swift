@testable import Coverage

/// The fence algorithm of docs/algorithm.md, 1 to 8, implemented literally and slowly: it stores everything, searches
/// all of it each time, and shares only the events with the engine.
struct Oracle {
  struct Circle {
    var entered: Int64
    var exited: Int64?
    /// The index of its test in `tests`.
    let test: Int
    var technologies: [String] = []
    var isDirty: Bool
    var pings: [(sent: Int64, outcome: PingOutcome)] = []
    var late = 0
    var duplicates = 0
    var unsent = 0
    var isPaused = false
    let centre: (north: Int, east: Int)
    let radius: Double
    /// The time from ping to ping, in microseconds.
    let interval: Int64

    var isSubmittable: Bool {
      let answered = pings.filter(\.outcome.isAnswered).count
      let isUnmeasured = answered == 0 && (unsent > pings.count || (pings.isEmpty && (isPaused || hasNoSlot)))
      return !isDirty && !isUnmeasured
    }

    /// Whether no ping had to be sent in it.
    private var hasNoSlot: Bool { exited.map { $0 - entered < interval } ?? false }
  }

  private(set) var circles: [Circle] = []
  private(set) var tests: [(uuid: String?, anchor: Int64?)] = [(nil, nil)]
  private(set) var outside = 0
  private(set) var paused = 0
  private(set) var late = 0
  private(set) var pings = 0
  private(set) var unsent = 0
  private(set) var end: (at: Int64, reason: StopReason)?
  private var windows: [(begin: Int64, end: Int64?)] = []
  private var isOnWiFi: Bool
  private var isPaused = false
  private var pauses: [(begin: Int64, end: Int64?)] = []
  private var technology: String?
  private var hasHadAccurate = false
  private var limit: Int64
  private let patience: Int64
  private let parameters: Parameters
  /// The latest time so far; an event with an earlier time counts at this one.
  private var latest: Int64 = 0
  /// The greatest time of all events so far, including pings.
  private var greatest: Int64 = 0

  init(_ drive: RandomDrive) {
    parameters = drive.parameters
    isOnWiFi = drive.initialPath == .wifi
    if isOnWiFi { pauses = [(.min, nil)] }
    limit = parameters.maximumDuration.inMicroseconds
    patience = parameters.giveUpAfter.inMicroseconds
    for step in drive.steps { take(step) }
  }

  private mutating func take(_ step: RandomDrive.Step) {
    let at = step.event.at.microseconds
    guardDuration(at)
    guard end == nil else { return }
    greatest = max(greatest, at)
    if step.event.kind.concernsPing { return take(step.event.kind, sent: at) }
    switch step.event.kind {
    case .modem, .equipment: return
    default: break
    }
    latest = max(latest, at)
    switch step.event.kind {
    case .modem, .equipment, .ping, .late, .duplicate: break
    case .clockSet(let step):
      for index in tests.indices { tests[index].anchor = tests[index].anchor.map { $0 - step.inMicroseconds } }
    case .fix(let fix): take(fix, step.place)
    case .path(let path):
      guard isOnWiFi != (path == .wifi) else { return }
      isOnWiFi = path == .wifi
      if isOnWiFi { pauses.append((latest, nil)) } else { pauses[pauses.count - 1].end = latest }
      if let active { circles[active].isDirty = true }
    case .unmeasured(let reason):
      isPaused = reason != nil
      if isPaused, let active { circles[active].isPaused = true }
    case .radio(let radio): technology = radio?.name
    case .session(let grant):
      if let uuid = tests[tests.count - 1].uuid, uuid != grant.testUUID {
        leave()
        tests.append((nil, nil))
      }
      tests[tests.count - 1] = (grant.testUUID, grant.anchor?.microseconds ?? latest)
      if let granted = grant.maximumDuration { limit = min(limit, granted.inMicroseconds) }
      guardDuration(greatest)
    case .stop(let reason): stop(latest, reason)
    }
  }

  private var active: Int? { circles.indices.last { circles[$0].exited == nil } }

  private mutating func leave() { if let active { circles[active].exited = latest } }

  private mutating func stop(_ at: Int64, _ reason: StopReason) {
    latest = max(latest, greatest, at)
    leave()
    end = (latest, reason)
  }

  private mutating func guardDuration(_ now: Int64) {
    guard end == nil else { return }
    if !hasHadAccurate, patience < limit, now >= patience { return stop(patience, .insufficientAccuracy) }
    if now >= limit { stop(limit, .duration) }
  }

  private mutating func take(_ fix: Fix, _ place: RandomDrive.Place?) {
    guard let place, let accuracy = fix.accuracy, accuracy <= 15 else {
      if windows.allSatisfy({ $0.end != nil }) { windows.append((latest, nil)) }
      return
    }
    for index in windows.indices where windows[index].end == nil { windows[index].end = latest }
    hasHadAccurate = true
    if let active {
      let (north, east) = (place.north - circles[active].centre.north, place.east - circles[active].centre.east)
      guard Double(north * north + east * east) >= circles[active].radius * circles[active].radius else {
        if let technology { circles[active].technologies.append(technology) }
        return
      }
      leave()
    }
    let radius = [parameters.minimumRadius, 10 + 2 * accuracy, fix.speed ?? 0].max() ?? 0
    circles.append(
      Circle(
        entered: latest, test: tests.count - 1, technologies: technology.map { [$0] } ?? [], isDirty: isOnWiFi,
        centre: (place.north, place.east), radius: radius, interval: parameters.pingInterval.inMicroseconds))
    circles[circles.count - 1].isPaused = isPaused
  }

  private mutating func take(_ happening: Event.Kind, sent: Int64) {
    let isInWindow = windows.contains { $0.begin < sent && ($0.end.map { $0 > sent } ?? true) }
    let home = circles.indices.last { circles[$0].entered < sent && (circles[$0].exited.map { $0 > sent } ?? true) }
    let isInPause = pauses.contains { $0.begin <= sent && ($0.end.map { $0 > sent } ?? true) }
    let circle = isInPause || isInWindow ? nil : home
    if case .ping(.unsent(let count)) = happening {
      unsent += count
      guard let circle else { return }
      circles[circle].unsent += count
      latest = max(latest, sent)
      return
    }
    if case .ping = happening {
      pings += 1
      if isInPause { paused += 1 } else if circle == nil { outside += 1 }
    }
    if case .late = happening { late += 1 }
    guard let circle else { return }
    switch happening {
    case .ping(let outcome):
      circles[circle].pings.append((sent, outcome))
      latest = max(latest, sent)
    case .late: circles[circle].late += 1
    case .duplicate: circles[circle].duplicates += 1
    case .fix, .path, .unmeasured, .radio, .modem, .equipment, .session, .clockSet, .stop: break
    }
  }
}

/// The figures of a circle's pings, each by its definition.
extension Oracle.Circle {
  private var inOrder: [(sent: Int64, outcome: PingOutcome)] {
    pings.enumerated().sorted { ($0.element.sent, $0.offset) < ($1.element.sent, $1.offset) }.map(\.element)
  }

  var roundTrips: [Int64] { inOrder.compactMap { Self.roundTrip($0.outcome) } }

  var kernelMean: Int64? {
    Self.mean(
      inOrder.compactMap { if case .answered(let rtt, isKernelStamped: true) = $0.outcome { rtt } else { nil } })
  }

  var meanVariation: Int64? {
    let all = inOrder
    var variations: [Int64] = []
    for second in all.indices.dropFirst() where 2 * (all[second].sent - all[second - 1].sent) <= 3 * interval {
      guard let former = Self.roundTrip(all[second - 1].outcome), let latter = Self.roundTrip(all[second].outcome)
      else { continue }
      variations.append(max(former, latter) - min(former, latter))
    }
    return Self.mean(variations)
  }

  /// The smallest round trip that at least `percent` percent of all round trips do not exceed.
  func percentile(_ percent: Int) -> Int64? {
    let all = roundTrips
    return all.filter { rtt in all.count { $0 <= rtt } * 100 >= percent * all.count }.min()
  }

  private static func roundTrip(_ outcome: PingOutcome) -> Int64? {
    if case .answered(let rtt, _) = outcome { rtt } else { nil }
  }

  /// Halves are rounded up.
  private static func mean(_ values: [Int64]) -> Int64? {
    values.isEmpty ? nil : (2 * values.reduce(0, +) + Int64(values.count)) / (2 * Int64(values.count))
  }
}
