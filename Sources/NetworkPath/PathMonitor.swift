import CPinger
import Coverage
import Logging

/// Tells which kind of link carries the pings, and when that changes.
public struct PathMonitor: Sendable {
  private enum Wake {
    case changed
    /// The kernel tells of no more changes.
    case deaf(KernelFailure)
    case due
    /// The file is to be read.
    case poll
    case destination(String)
  }

  /// Wakes once, at a time.
  private struct Alarm {
    let time: ContinuousClock.Instant
    private let task: Task<Void, Never>

    init(at time: ContinuousClock.Instant, _ mailbox: AsyncStream<Wake>.Continuation) {
      self.time = time
      task = Task {
        // Cancelled: another alarm is set.
        guard (try? await Task.sleep(until: time, tolerance: .milliseconds(5), clock: .continuous)) != nil else {
          return
        }
        mailbox.yield(.due)
      }
    }

    func cancel() { task.cancel() }
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
  ///
  /// The route is asked for when the kernel tells of a change, and now and then besides; a file is read every ``pollInterval``.
  public func run(_ deliver: @Sendable (PathReading) -> Void) async {
    var route = route
    var file: PathFile? = if case .file(let name) = source { PathFile(name: name) } else { nil }
    var declared: Path?
    var reading = reading(of: route)
    var last: PathReading?
    let watch = watch()
    let polling = file.map { _ in Task { await poll() } }
    var schedule = ReadingSchedule(fallback: watch == nil ? pollInterval : Self.fallback, startingAt: .now)
    var alarm = Alarm(at: schedule.next, mailbox)
    for await wake in wakes {
      switch wake {
      case .changed: schedule.changed(at: .now)
      case .deaf(let reason):
        logDeafness(reason)
        schedule = ReadingSchedule(fallback: pollInterval, startingAt: .now)
      case .destination(let host):
        route.destination = host
        schedule.changed(at: .now)
      case .poll:
        let (word, news) = file?.read() ?? (nil, nil)
        if let news { logger.warning("\(news)") }
        declared = word
      case .due: break
      }
      if schedule.isDue(at: .now) { reading = self.reading(of: route) }
      if file == nil {
        tell(reading, after: &last, deliver)
      } else if let declared {
        tell(PathReading(fixed: declared, way: reading.way), after: &last, deliver)
      }
      if alarm.time != schedule.next {
        alarm.cancel()
        alarm = Alarm(at: schedule.next, mailbox)
      }
    }
    alarm.cancel()
    polling?.cancel()
    watch?.cancel()
  }

  /// At whole multiples of the interval: there others have something to do as well.
  private func poll() async {
    let interval = UInt64(max(1, pollInterval.inNanoseconds))
    repeat {
      mailbox.yield(.poll)
    } while (try? await Task.sleep(for: .nanoseconds(Int64(clamping: interval - cping_now() % interval)))) != nil
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
