import Logging
import Positioning
import Settings
import Submission

/// One receiver's positions for all who want them: the drives of several links, and the service between drives.
actor PositionFeed {
  private let gpsd: GPSD
  private let timekeeper: Timekeeper
  private var zones: ExclusionZones
  private var listeners: [Int: AsyncStream<PositioningEvent>.Continuation] = [:]
  private var lastNumber = 0
  /// The state of the way to the receiver, for whoever comes later.
  private var status: PositioningEvent?

  /// - Parameter timekeeper: Is given the times of all receivers with a fix, those in exclusion zones as well.
  init(_ configuration: ProbeConfiguration, timekeeper: Timekeeper, logger: Logger) {
    self.timekeeper = timekeeper
    zones = ExclusionZones(configuration.exclusionZones)
    gpsd = GPSD(
      configuration: GPSDConfiguration(
        host: configuration.gpsd.host, port: configuration.gpsd.port, device: configuration.gpsd.device,
        staleAfter: configuration.gpsd.staleAfter, maximumSpeed: configuration.location.maximumSpeed,
        speedLimit: configuration.location.speedLimit),
      logger: logger)
  }

  /// Until the task is cancelled.
  func run() async {
    for await event in gpsd.events() {
      if case .clock(let clock) = event {
        timekeeper.note(gnss: clock.time, receiver: clock.device, arrival: clock.arrival)
        continue
      }
      guard let event = zones.pass(event) else { continue }
      if case .status = event { status = event }
      for listener in listeners.values { listener.yield(event) }
    }
  }

  /// All events from now on, and before them how things stand. It ends with the task that reads it.
  func events() -> AsyncStream<PositioningEvent> {
    let (stream, continuation) = AsyncStream<PositioningEvent>.makeStream()
    lastNumber += 1
    let number = lastNumber
    listeners[number] = continuation
    if let status { continuation.yield(status) }
    continuation.onTermination = { _ in Task { await self.forget(number) } }
    return stream
  }

  private func forget(_ number: Int) { listeners[number] = nil }
}
