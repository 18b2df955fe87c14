import CPinger
import Coverage
import Dispatch
import Glibc
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
    /// The file is to be read.
    case poll
    /// Pings go to another host.
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

  /// The interval between readings of the route without a reported change.
  private static let fallback: Duration = .seconds(10)

  /// - Parameters:
  ///   - interface: The interface to which pings are bound; `nil`: none.
  ///   - destination: The host to which pings go; its route decides in `auto`. `nil`: the default route decides.
  ///   - pollInterval: The interval between readings of the route while the kernel reports no changes.
  ///   - logger: Logs each change of the path, and failures.
  public init(
    source: PathSource, interface: String?, destination: String?, pollInterval: Duration = .seconds(1), logger: Logger
  ) {
    self.source = source
    route = Route(interface: interface, destination: destination)
    (self.pollInterval, self.logger) = (pollInterval, logger)
    (wakes, mailbox) = AsyncStream.makeStream()
  }

  /// The reading now.
  public var current: PathReading { reading(to: route.destination) }

  /// The reading now of the route to a host.
  public func reading(to destination: String?) -> PathReading {
    var route = route
    route.destination = destination
    return switch source {
    case .file(let name):
      PathReading(fixed: (try? PathFile.lastWord(of: name).get()) ?? .offline, route: route.reading)
    case .fixed, .auto: asDeclared(route.reading)
    }
  }

  /// The operator's declaration replaces the kind of the link only: the route still shows whether there is a link, and which.
  private func asDeclared(_ reading: PathReading) -> PathReading {
    switch source {
    case .fixed(.wifi): PathReading(fixed: .wifi)
    case .fixed(let path): reading.declared(as: path)
    case .auto, .file: reading
    }
  }

  /// Whether there is a route for the other IP version than that of `host`, a numeric address, and none to it.
  public func hasOtherFamilyOnly(than host: String) -> Bool {
    var route = route
    route.destination = host
    return route.reading.noWay == .otherFamily
  }

  /// Follows the route to another host from now on.
  public func follow(_ destination: String) { mailbox.yield(.destination(destination)) }

  /// Reads the file that names the kind of the link, if there is one. To be called each second: the file may be on any file system, so that no
  /// change of it is reported.
  public func readFile() {
    if case .file = source { mailbox.yield(.poll) }
  }

  /// Delivers the reading now, and every change, until the task is cancelled. Call it once.
  ///
  /// The route is read when the kernel reports a change, and from time to time besides; a file is read now and at each ``readFile()``.
  public func run(_ deliver: @Sendable (PathReading) -> Void) async {
    var route = route
    var file: PathFile? = if case .file(let name) = source { PathFile(name: name) } else { nil }
    var declared: Path?
    var links = LinkWatch(isDeclared: source != .auto)
    func read() -> PathReading { asDeclared(links.judged(route.reading, exists: Self.hasInterface)) }
    var reading = read()
    var last: PathReading?
    let watch = watch()
    readFile()
    var schedule = ReadingSchedule(fallback: watch == nil ? pollInterval : Self.fallback, startingAt: .now)
    var alarm = Alarm(at: schedule.next, mailbox)
    for await wake in wakes {
      switch wake {
      case .changed: schedule.changed(at: .now)
      case .watchFailed(let reason):
        logWatchFailure(reason)
        schedule = ReadingSchedule(fallback: pollInterval, startingAt: .now)
      case .destination(let host):
        route.destination = host
        schedule.changed(at: .now)
      case .poll:
        let (current, newError) = file?.read() ?? (nil, nil)
        if let newError { logger.warning("\(newError)") }
        declared = current
      case .due: break
      }
      if schedule.isDue(at: .now) { reading = read() }
      if file == nil {
        report(reading, after: &last, deliver)
      } else if let declared {
        report(PathReading(fixed: declared, route: reading), after: &last, deliver)
      }
      if alarm.time != schedule.next {
        alarm.cancel()
        alarm = Alarm(at: schedule.next, mailbox)
      }
    }
    alarm.cancel()
    watch?.cancel()
  }

  private static func hasInterface(_ index: UInt32) -> Bool {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    // An error other than ENXIO is no proof.
    return if_indextoname(index, &name) != nil || errno != ENXIO
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

/// Where the kind of the link comes from: `network.source` of the configuration.
public enum PathSource: Hashable, Sendable {
  /// From the routing table and the kind of the interface that carries the pings.
  case auto
  /// Always the same kind.
  case fixed(Path)
  /// From the last line of the file at this path: cellular, wifi or none.
  case file(String)

  /// What the operator declares, without the place of a file; `nil`: the kernel decides.
  public var declared: String? {
    switch self {
    case .auto: nil
    case .fixed(let path): "fixed-\(path.rawValue)"
    case .file: "file"
    }
  }

  /// Reads `auto`, `fixed-cellular`, `fixed-wifi` or `file:PATH`; `nil` for other text.
  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "fixed-cellular": self = .fixed(.cellular)
    case "fixed-wifi": self = .fixed(.wifi)
    default:
      guard text.hasPrefix("file:"), text.count > 5 else { return nil }
      self = .file(String(text.dropFirst(5)))
    }
  }
}

/// Reports changes of links, addresses and routes, from the kernel's netlink messages.
final class NetworkWatch {
  private let source: any DispatchSourceRead

  /// - Parameter onEvent: Called with `nil` for each change, and with the error when no further change will be reported.
  /// - Throws: ``KernelFailure`` when netlink cannot be opened.
  init(_ onEvent: @escaping @Sendable (KernelFailure?) -> Void) throws(KernelFailure) {
    let changes = cpnetwork_open()
    guard changes >= 0 else { throw KernelFailure(code: changes) }
    source = DispatchSource.makeReadSource(fileDescriptor: changes)
    source.setEventHandler { [weak self] in
      let status = cpnetwork_drain(changes)
      if status != 0 { onEvent(status < 0 ? KernelFailure(code: status) : nil) }
      if status < 0 { self?.cancel() }
    }
    source.setCancelHandler { close(changes) }
    source.activate()
  }

  func cancel() { source.cancel() }

  deinit { source.cancel() }
}

/// Schedules the readings of the route: soon after a change, once for a burst of changes, and at an interval without changes. A pure
/// value: time comes in as an argument.
struct ReadingSchedule: Hashable, Sendable {
  /// A burst ends after this time without a change. A link that comes up causes several changes, milliseconds apart.
  static let quiet: Duration = .milliseconds(50)
  /// The longest time from the first change of a burst to a reading.
  static let longestBurst: Duration = .milliseconds(250)

  private let fallback: Duration
  private var burstBegan: ContinuousClock.Instant?
  /// The time of the next reading; a change can bring it forward.
  private(set) var next: ContinuousClock.Instant

  /// - Parameter fallback: The interval between readings without a change.
  init(fallback: Duration, startingAt now: ContinuousClock.Instant) {
    self.fallback = fallback
    next = now
  }

  mutating func changed(at now: ContinuousClock.Instant) {
    let began = burstBegan ?? now
    burstBegan = began
    next = min(now + Self.quiet, began + Self.longestBurst)
  }

  /// Whether to read now; if so, sets the next time.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    guard now >= next else { return false }
    burstBegan = nil
    next = now + fallback
    return true
  }
}
