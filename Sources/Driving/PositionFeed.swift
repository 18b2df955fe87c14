import Logging
import Positioning
import Settings
import Submission
import Synchronization

/// One receiver's positions for all who want them: the drives of several links, and the service between drives.
public final class PositionFeed: Sendable {
  /// Has to return at once, and must not call the feed.
  public typealias Listener = @Sendable (PositioningEvent) -> Void

  private struct State {
    var zones: ExclusionZones
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    /// The state of the way to the receiver, for whoever comes later.
    var status: PositioningEvent?
  }

  private let gpsd: GPSD
  private let timekeeper: Timekeeper
  private let state: Mutex<State>

  /// - Parameters:
  ///   - zones: Where positions are withheld.
  ///   - timekeeper: Is given the times of all receivers with a fix, those in exclusion zones as well.
  public init(_ configuration: GPSDConfiguration, zones: [ExclusionZone], timekeeper: Timekeeper, logger: Logger) {
    self.timekeeper = timekeeper
    state = Mutex(State(zones: ExclusionZones(zones)))
    gpsd = GPSD(configuration: configuration, logger: logger)
  }

  /// Until the task is cancelled.
  public func run() async {
    await gpsd.run { [self] event in pass(on: event) }
  }

  /// Calls `listener` with how things stand, and then with each event in order, until the task is cancelled.
  public func deliver(to listener: @escaping Listener) async {
    let number = state.withLock { state in
      if let status = state.status { listener(status) }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = listener
      return state.lastNumber
    }
    await untilCancelled()
    state.withLock { $0.listeners[number] = nil }
  }

  /// The listeners are called at once, by the thread that reads from the receiver: a hand-over to another one costs more than they do.
  private func pass(on event: PositioningEvent) {
    if case .clock(let clock) = event {
      timekeeper.note(gnss: clock.time, receiver: clock.device, arrival: clock.arrival)
      return
    }
    state.withLock { state in
      guard let event = state.zones.pass(event) else { return }
      if case .status = event { state.status = event }
      for listener in state.listeners.values { listener(event) }
    }
  }
}
