import Logging
import Positioning

/// One receiver's positions for all who want them: the drives of several links, and the service between drives.
actor PositionFeed {
  private let gpsd: GPSD
  private var zones: ExclusionZones
  private var listeners: [Int: AsyncStream<PositioningEvent>.Continuation] = [:]
  private var lastNumber = 0
  /// The state of the way to the receiver, for whoever comes later.
  private var status: PositioningEvent?

  init(_ configuration: ProbeConfiguration, logger: Logger) {
    zones = ExclusionZones(configuration.exclusionZones)
    gpsd = GPSD(
      configuration: GPSD.Configuration(
        host: configuration.gpsd.host, port: configuration.gpsd.port, device: configuration.gpsd.device,
        staleAfter: configuration.gpsd.staleAfter, maximumSpeed: configuration.location.maximumSpeed,
        speedLimit: configuration.location.speedLimit),
      logger: logger)
  }

  /// Until the task is cancelled.
  func run() async {
    for await event in gpsd.events() {
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
