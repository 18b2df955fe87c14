@testable import Coverage

/// A drive as a script, second by second. Places are in metres from an origin.
struct DriveScript {
  private(set) var engine: Engine
  private(set) var effects: [Effect] = []
  private let ground: Ground

  init(path: Path = .cellular, on ground: Ground = .vienna, adjust: (inout Parameters) -> Void = { _ in }) {
    var parameters = Parameters()
    adjust(&parameters)
    engine = Engine(parameters: parameters, path: path)
    self.ground = ground
  }

  @discardableResult
  mutating func fix(
    at seconds: Double, north: Double = 0, east: Double = 0, accuracy: Double? = 5, speed: Double? = nil
  ) -> [Effect] {
    let place = ground.place(north: north, east: east)
    return happen(at: seconds, .fix(Fix(coordinate: place, accuracy: accuracy, speed: speed)))
  }

  @discardableResult
  mutating func fixLost(at seconds: Double) -> [Effect] { happen(at: seconds, .fix(.lost)) }

  @discardableResult
  mutating func ping(at seconds: Double, milliseconds: Int64 = 20, byKernel: Bool = false) -> [Effect] {
    happen(at: seconds, .ping(.answered(rttNanoseconds: milliseconds * 1_000_000, isKernelStamped: byKernel)))
  }

  @discardableResult
  mutating func latePing(at seconds: Double, milliseconds: Int64) -> [Effect] {
    happen(at: seconds, .late(rttNanoseconds: milliseconds * 1_000_000))
  }

  @discardableResult
  mutating func duplicate(at seconds: Double) -> [Effect] { happen(at: seconds, .duplicate) }

  @discardableResult
  mutating func failedPing(at seconds: Double) -> [Effect] { happen(at: seconds, .ping(.failed(.timeout))) }

  @discardableResult
  mutating func unsentPing(at seconds: Double, count: Int = 1) -> [Effect] {
    happen(at: seconds, .ping(.unsent(count: count)))
  }

  @discardableResult
  mutating func pause(at seconds: Double, _ reason: String?) -> [Effect] { happen(at: seconds, .unmeasured(reason)) }

  @discardableResult
  mutating func path(at seconds: Double, _ path: Path) -> [Effect] { happen(at: seconds, .path(path)) }

  @discardableResult
  mutating func radio(at seconds: Double, _ name: String?) -> [Effect] {
    happen(at: seconds, .radio(name.map { Technology($0) }))
  }

  @discardableResult
  mutating func modem(at seconds: Double, _ reading: ModemReading?) -> [Effect] {
    happen(at: seconds, .modem(reading))
  }

  @discardableResult
  mutating func session(
    at seconds: Double, _ testUUID: String, anchor: Double? = nil, limit: Duration? = nil
  ) -> [Effect] {
    let anchor = anchor.map { DriveTime(seconds: $0) }
    return happen(at: seconds, .session(SessionGrant(testUUID: testUUID, anchor: anchor, maximumDuration: limit)))
  }

  @discardableResult
  mutating func stop(at seconds: Double) -> [Effect] { happen(at: seconds, .stop(.user)) }

  @discardableResult
  mutating func nothing(until seconds: Double) -> [Effect] { remember(engine.advance(to: DriveTime(seconds: seconds))) }

  @discardableResult
  mutating func setClock(at seconds: Double, by step: Duration) -> [Effect] { happen(at: seconds, .clockSet(by: step)) }

  private mutating func happen(at seconds: Double, _ kind: Event.Kind) -> [Effect] {
    handle(Event(at: DriveTime(seconds: seconds), kind))
  }

  mutating func handle(_ event: Event) -> [Effect] { remember(engine.handle(event)) }

  private mutating func remember(_ effects: [Effect]) -> [Effect] {
    self.effects += effects
    return effects
  }
}

// The results, in a form that reads well in an expectation.
extension DriveScript {
  var fences: [Fence] { engine.fences }
  var spans: [Span] { engine.fences.map { Span($0.entered.seconds, $0.exited?.seconds) } }
  /// The number of pings in each fence.
  var pings: [Int] { engine.fences.map(\.pings) }
  var technologies: [String?] { engine.fences.map { $0.technology?.name } }
  var submittable: [Bool] { engine.fences.map(\.isSubmittable) }
  var unassigned: Int { engine.pings.unassigned }
  var warnings: [Heed] { engine.warnings.map { Heed($0.kind, $0.from.seconds, $0.to?.seconds) } }
  var end: End? { engine.stopped.map { End($0.at.seconds, $0.reason) } }
  var deadline: Double? { engine.nextDeadline?.seconds }
  var closed: [Int] { effects.compactMap { if case .fenceClosed(let fence) = $0 { fence.number } else { nil } } }
}

/// A span of time in seconds; `to` is `nil` while it lasts.
struct Span: Equatable, CustomStringConvertible {
  let from: Double
  let to: Double?

  init(_ from: Double, _ to: Double?) { (self.from, self.to) = (from, to) }

  var description: String { "\(from)...\(to.map { "\($0)" } ?? "")" }
}

struct Heed: Equatable {
  let kind: Warning.Kind
  let span: Span

  init(_ kind: Warning.Kind, _ from: Double, _ to: Double?) { (self.kind, span) = (kind, Span(from, to)) }
}

struct End: Equatable {
  let at: Double
  let reason: StopReason

  init(_ at: Double, _ reason: StopReason) { (self.at, self.reason) = (at, reason) }
}

extension DriveTime {
  init(seconds: Double) { self.init(microseconds: Int64((seconds * 1e6).rounded())) }

  var seconds: Double { Double(microseconds) / 1e6 }
}
