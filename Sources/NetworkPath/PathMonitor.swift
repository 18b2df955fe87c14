import Coverage
import Logging

/// Tells which kind of link carries the pings, and when that changes.
public struct PathMonitor: Sendable {
  private enum Wake {
    case changed
    /// The kernel tells of no more changes.
    case deaf(KernelFailure)
    case due
    case destination(String)
  }

  private let source: PathSource
  private let route: Route
  private let pollInterval: Duration
  private let logger: Logger
  private let wakes: AsyncStream<Wake>
  private let mailbox: AsyncStream<Wake>.Continuation

  /// How often the route is asked for although no change was told of.
  private static let fallback: Duration = .seconds(10)

  /// - Parameters:
  ///   - interface: The interface that pings are bound to, if any.
  ///   - destination: The host that the pings go to, as far as it is known; its route decides in `auto`.
  ///   - pollInterval: How often a file is read, and the route where the kernel tells of no changes.
  public init(
    source: PathSource, interface: String?, destination: String?, pollInterval: Duration = .seconds(1), logger: Logger
  ) {
    self.source = source
    route = Route(interface: interface, destination: destination)
    self.pollInterval = pollInterval
    self.logger = logger
    (wakes, mailbox) = AsyncStream.makeStream()
  }

  /// What is the case now.
  public var current: PathReading {
    switch source {
    case .file(let name):
      PathReading(fixed: (try? PathFile.lastWord(of: name).get()) ?? .offline, way: route.reading.way)
    case .fixed, .auto: reading(of: route)
    }
  }

  /// What an operator declares is the kind of the link; whether there is one, and which, the route tells even so.
  private func reading(of route: Route) -> PathReading {
    switch source {
    case .fixed(.wifi): return PathReading(fixed: .wifi)
    case .fixed(let path):
      let reading = route.reading
      return reading.path == .offline ? reading : PathReading(fixed: path, way: reading.way)
    case .auto, .file: return route.reading
    }
  }

  /// Pings go to this address from now on; its route decides in `auto`.
  public func follow(_ destination: String) { mailbox.yield(.destination(destination)) }

  /// Delivers what is the case now, and every change, until the task is cancelled. To be called once.
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
        let (word, news) = file.read()
        if let news { logger.warning("\(news)") }
        path = word
      case .changed, .deaf: continue
      }
      if let path { tell(PathReading(fixed: path, way: route.reading.way), after: &last, deliver) }
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
      case .deaf(let reason):
        logDeafness(reason)
        schedule = ReadingSchedule(fallback: pollInterval, startingAt: .now)
      case .destination(let host):
        route.destination = host
        schedule.changed(at: .now)
      case .due: break
      }
      if schedule.isDue(at: .now) { tell(reading(of: route), after: &last, deliver) }
      alarm.cancel()
      alarm = self.alarm(at: schedule.next)
    }
    alarm.cancel()
    watch?.cancel()
  }

  private func watch() -> NetworkWatch? {
    do {
      return try NetworkWatch { [mailbox] failure in mailbox.yield(failure.map(Wake.deaf) ?? .changed) }
    } catch {
      logDeafness(error)
      return nil
    }
  }

  private func logDeafness(_ reason: KernelFailure) {
    logger.warning("the kernel tells of no network changes: \(reason); looking every \(pollInterval)")
  }

  private func alarm(at time: ContinuousClock.Instant) -> Task<Void, Never> {
    Task { [mailbox] in
      // Cancelled: another alarm is set.
      guard (try? await Task.sleep(until: time, tolerance: .milliseconds(5), clock: .continuous)) != nil else { return }
      mailbox.yield(.due)
    }
  }

  private func tell(_ reading: PathReading, after last: inout PathReading?, _ deliver: (PathReading) -> Void) {
    guard reading != last else { return }
    let line = "\(reading)"
    // Another destination by the same way is delivered, and is no news for the log.
    if last.map({ "\($0)" }) != line {
      logger.log(level: reading.wantsDeclaration ? .warning : .info, "network path: \(line)")
    }
    last = reading
    deliver(reading)
  }
}
