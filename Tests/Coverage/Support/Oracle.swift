import Coverage

/// The specification's fence algorithm (2.2 to 2.9) read aloud, as slowly as it likes: it keeps everything, looks
/// through all of it each time, and shares nothing with the engine but the events.
struct Oracle {
  struct Circle {
    var entered: Int64
    var exited: Int64?
    var testUUID: String?
    var technologies: [String] = []
    var isDirty: Bool
    var pings: [PingOutcome] = []
    let centre: (north: Int, east: Int)
    let radius: Double
  }

  private(set) var circles: [Circle] = []
  private(set) var unassigned = 0
  private(set) var pings = 0
  private(set) var end: (at: Int64, reason: StopReason)?
  private var windows: [(begin: Int64, end: Int64?)] = []
  private var isOnWiFi: Bool
  private var testUUID: String?
  private var technology: String?
  private var hasHadAccurate = false
  private var limit: Int64
  private let patience: Int64
  private let parameters: Parameters
  /// A moment of the past counts as the latest one known.
  private var latest: Int64 = 0
  /// The greatest moment of all events so far, pings too.
  private var greatest: Int64 = 0

  init(_ drive: RandomDrive) {
    parameters = drive.parameters
    isOnWiFi = drive.initialPath == .wifi
    limit = parameters.maximumDuration.inMicroseconds
    patience = parameters.giveUpAfter.inMicroseconds
    for step in drive.steps { take(step) }
  }

  private mutating func take(_ step: RandomDrive.Step) {
    let at = step.event.at.microseconds
    guardDuration(at)
    guard end == nil else { return }
    greatest = max(greatest, at)
    if case .ping(let outcome) = step.event.kind { return take(outcome, sent: at) }
    latest = max(latest, at)
    switch step.event.kind {
    case .ping, .late, .duplicate, .clockSet: break
    case .fix(let fix): take(fix, step.place)
    case .path(let path):
      guard isOnWiFi != (path == .wifi) else { return }
      isOnWiFi = path == .wifi
      if let active { circles[active].isDirty = true }
    case .radio(let radio): technology = radio?.name
    case .session(let grant):
      if let testUUID, testUUID != grant.testUUID { leave() }
      testUUID = grant.testUUID
      for index in circles.indices where circles[index].testUUID == nil { circles[index].testUUID = testUUID }
      if let told = grant.maximumDuration { limit = min(limit, told.inMicroseconds) }
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
        entered: latest, testUUID: testUUID, technologies: technology.map { [$0] } ?? [], isDirty: isOnWiFi,
        centre: (place.north, place.east), radius: radius))
  }

  private mutating func take(_ outcome: PingOutcome, sent: Int64) {
    pings += 1
    let isInWindow = windows.contains { $0.begin < sent && ($0.end.map { $0 > sent } ?? true) }
    let home = circles.indices.last { circles[$0].entered < sent && (circles[$0].exited.map { $0 > sent } ?? true) }
    guard !isOnWiFi, !isInWindow, let home else { return unassigned += 1 }
    circles[home].pings.append(outcome)
  }
}
