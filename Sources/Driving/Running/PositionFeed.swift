import Coverage
import Logging
import Positioning
import Settings
import Submission
import Synchronization

/// Delivers one receiver's positions to several listeners: the drives of all links, and the service between drives.
public final class PositionFeed: Sendable {
  /// Receives one event. Must return at once, and must not call the feed.
  public typealias Listener = @Sendable (PositioningEvent) -> Void

  /// Guarded by a lock: listeners come and go on any thread.
  private struct State {
    var zones: ExclusionZones
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var receiver = ReceiverState()
  }

  private let gpsd: GPSD
  private let timekeeper: Timekeeper
  private let state: Mutex<State>

  /// - Parameters:
  ///   - zones: Positions inside them are withheld.
  ///   - timekeeper: Receives the time of every fix, including those in exclusion zones.
  public init(_ configuration: GPSDConfiguration, zones: [ExclusionZone], timekeeper: Timekeeper, logger: Logger) {
    self.timekeeper = timekeeper
    state = Mutex(State(zones: ExclusionZones(zones)))
    gpsd = GPSD(configuration: configuration, logger: logger)
  }

  /// Reads from gpsd until the task is cancelled.
  public func run() async {
    await gpsd.run { [self] event in pass(on: event) }
  }

  /// Calls `listener` with the present state, and then with each event in order, until the task is cancelled.
  public func deliver(to listener: @escaping Listener) async {
    let number = state.withLock { state in
      for status in state.receiver.statuses { listener(.status(status)) }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = listener
      return state.lastNumber
    }
    await untilCancelled()
    state.withLock { $0.listeners[number] = nil }
  }

  /// Calls the listeners on the thread that reads from the receiver: passing each event to another thread would cost
  /// more.
  private func pass(on event: PositioningEvent) {
    if case .clock(let clock) = event {
      timekeeper.note(gnss: clock.time, receiver: clock.device, arrival: clock.arrival)
      return
    }
    state.withLock { state in
      guard let event = state.zones.pass(event) else { return }
      if case .status(let status) = event { state.receiver.note(status) }
      for listener in state.listeners.values { listener(event) }
    }
  }
}

/// What a new listener learns first: the receivers, the connection to gpsd, and whether there is a position. A pure value.
struct ReceiverState: Hashable, Sendable {
  private var receivers: PositioningStatus?
  private var connection: PositioningStatus?
  private var position: PositioningStatus?

  mutating func note(_ status: PositioningStatus) {
    switch status {
    case .devices: receivers = status
    case .connecting, .connected: connection = status
    // The position of another connection says nothing.
    case .disconnected: (connection, position) = (status, nil)
    case .positioned, .noFix: position = status
    case .clockDifference, .complaint: break
    }
  }

  /// In the order in which gpsd tells them.
  var statuses: [PositioningStatus] { [receivers, connection, position].compactMap { $0 } }
}

/// Drops positions inside exclusion zones before any other part reads or stores them. A pure value.
struct ExclusionZones: Sendable {
  private let zones: [ExclusionZone]
  /// Whether the last position was inside a zone.
  private(set) var isInside = false

  init(_ zones: [ExclusionZone]) {
    self.zones = zones
  }

  /// The event to pass on; `nil` for none. The first position inside a zone becomes a lost fix.
  mutating func pass(_ event: PositioningEvent) -> PositioningEvent? {
    guard case .fix(let positioned) = event, let place = positioned.fix.coordinate else { return event }
    let wasInside = isInside
    // If the accuracy radius touches a zone, the position counts as inside.
    let doubt = positioned.fix.accuracy ?? 0
    isInside = zones.contains { $0.centre.distance(to: place) < $0.radius + doubt }
    guard isInside else { return event }
    return wasInside
      ? nil : .fix(PositionedFix(fix: .lost, arrival: positioned.arrival, delivered: positioned.delivered))
  }
}
