import Coverage
import Logging

/// Reports the kind of link that carries the pings, and its changes.
public struct PathMonitor: Sendable {
  private enum Wake {
    /// A link, an address or a route changed.
    case changed
    /// The kernel reports no further changes.
    case watchFailed(KernelFailure)
    /// The time of the next reading has come.
    case due
    /// Pings go to another host.
    case destination(String)
  }

  private let source: PathSource
  private let route: Route
  private let pollInterval: Duration
  private let logger: Logger
  private let wakes: AsyncStream<Wake>
  private let mailbox: AsyncStream<Wake>.Continuation

  /// The interval between readings of the route without a reported change.
  private static let fallback: Duration = .seconds(10)

  /// - Parameters:
  ///   - source: Where the kind of link comes from.
  ///   - interface: The interface to which pings are bound; `nil`: none.
  ///   - destination: The host to which pings go; its route decides in `auto`. `nil`: the default route decides.
  ///   - pollInterval: The interval between readings of a file, and of the route while the kernel reports no changes.
  ///   - logger: Logs each change of the path, and failures.
  public init(
    source: PathSource, interface: String?, destination: String?, pollInterval: Duration = .seconds(1), logger: Logger
  ) {
    self.source = source
    route = Route(interface: interface, destination: destination)
    self.pollInterval = pollInterval
    self.logger = logger
    (wakes, mailbox) = AsyncStream.makeStream()
  }

  /// The reading now.
  public var current: PathReading {
    switch source {
    case .file(let name):
      PathReading(fixed: (try? PathFile.lastWord(of: name).get()) ?? .offline, way: route.reading.way)
    case .fixed, .auto: reading(of: route)
    }
  }

  /// The operator's declaration replaces the kind of the link only: the route still shows whether there is a link, and which.
  private func reading(of route: Route) -> PathReading {
    switch source {
    case .fixed(.wifi): return PathReading(fixed: .wifi)
    case .fixed(let path):
      let reading = route.reading
      return reading.path == .offline ? reading : PathReading(fixed: path, way: reading.way)
    case .auto, .file: return route.reading
    }
  }

  /// Follows the route to another host from now on.
  public func follow(_ destination: String) { mailbox.yield(.destination(destination)) }

  /// Delivers the reading now, and every change, until the task is cancelled. Call it once.
  public func run(_ deliver: @Sendable (PathReading) -> Void) async {
    switch source {
    case .file(let name): await run(PathFile(name: name), deliver)
    case .fixed, .auto: await run(route, deliver)
    }
  }

  // MARK: A file

  private func run(_ file: PathFile, _ deliver: @Sendable (PathReading) -> Void) async {
    var (file, route) = (file, route)
    var path: Path?
    var last: PathReading?
    let polling = Task { [mailbox, pollInterval] in
      repeat { mailbox.yield(.due) } while (try? await Task.sleep(for: pollInterval)) != nil
    }
    defer { polling.cancel() }
    for await wake in wakes {
      switch wake {
      case .destination(let host): route.destination = host
      case .due:
        let (current, newError) = file.read()
        if let newError { logger.warning("\(newError)") }
        path = current
      case .changed, .watchFailed: continue
      }
      if let path { report(PathReading(fixed: path, way: route.reading.way), after: &last, deliver) }
    }
  }

  // MARK: The route

  private func run(_ route: Route, _ deliver: @Sendable (PathReading) -> Void) async {
    var route = route
    var last: PathReading?
    let watch = watch()
    var schedule = ReadingSchedule(fallback: watch == nil ? pollInterval : Self.fallback, startingAt: .now)
    var alarm = alarm(at: schedule.next)
    for await wake in wakes {
      switch wake {
      case .changed: schedule.changed(at: .now)
      case .watchFailed(let reason):
        logWatchFailure(reason)
        schedule = ReadingSchedule(fallback: pollInterval, startingAt: .now)
      case .destination(let host):
        route.destination = host
        schedule.changed(at: .now)
      case .due: break
      }
      if schedule.isDue(at: .now) { report(reading(of: route), after: &last, deliver) }
      alarm.cancel()
      alarm = self.alarm(at: schedule.next)
    }
    alarm.cancel()
    watch?.cancel()
  }

  private func watch() -> NetworkWatch? {
    do {
      return try NetworkWatch { [mailbox] failure in mailbox.yield(failure.map(Wake.watchFailed) ?? .changed) }
    } catch {
      logWatchFailure(error)
      return nil
    }
  }

  private func logWatchFailure(_ reason: KernelFailure) {
    logger.warning("the kernel reports no network changes: \(reason); reading the route every \(pollInterval)")
  }

  private func alarm(at time: ContinuousClock.Instant) -> Task<Void, Never> {
    Task { [mailbox] in
      // Cancelled: another alarm replaces this one.
      guard (try? await Task.sleep(until: time, tolerance: .milliseconds(5), clock: .continuous)) != nil else { return }
      mailbox.yield(.due)
    }
  }

  private func report(_ reading: PathReading, after last: inout PathReading?, _ deliver: (PathReading) -> Void) {
    guard reading != last else { return }
    let line = "\(reading)"
    // Another destination by the same link is delivered but not logged.
    if last.map({ "\($0)" }) != line {
      logger.log(level: reading.wantsDeclaration ? .warning : .info, "network path: \(line)")
    }
    last = reading
    deliver(reading)
  }
}
