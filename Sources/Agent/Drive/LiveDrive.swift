import CPinger
import ControlServer
import Coverage
import DriveLog
import DriveStore
import Foundation
import Logging
import Pinging
import Recovery
import Settings
import Submission

/// A drive as its operator sees it: on every link one ``Drive``, all by the same clock and with the same positions.
struct LiveDrive: Sendable {
  /// What all drives of a process share.
  struct Environment: Sendable {
    let store: DriveStore
    let server: ControlServerClient
    let sender: Sender
    let positions: PositionFeed
    let timekeeper: Timekeeper
    let logger: Logger

    /// - Parameter purpose: What this process is, for another one that finds the store in use.
    /// - Throws: `StoreError`, GRDB's `DatabaseError`
    init(
      configuration: ProbeConfiguration, purpose: String, server: ControlServerClient, logger: Logger
    ) throws {
      // What loading the program took: else it adds to what beginning a drive takes.
      cpprocess_forget_start()
      store = try DriveStore(directory: StateDirectory(path: configuration.stateDirectory), purpose: purpose) {
        logger.error("\($0)")
      }
      timekeeper = try Timekeeper(store: store, server: server, clock: .host, logger: logger)
      sender = try Sender(
        store: store, server: server, settings: configuration.sender, clock: .host, timekeeper: timekeeper,
        logger: logger)
      positions = PositionFeed(configuration, timekeeper: timekeeper, logger: logger)
      self.server = server
      self.logger = logger
    }

    /// Recovers from the drive logs what damage has taken from the store. Call it before anything is recorded or sent.
    func recover(_ configuration: ProbeConfiguration) async {
      if let warning = store.directory.warning { logger.warning("\(warning)") }
      await Recovery(store, maxAge: configuration.submission.maxAge, logger: logger).attempt(at: .current)
    }

    /// To be called before a drive is made: no pass touches it from now on.
    /// - Returns: By link, the loops that it continues.
    /// - Throws: GRDB's `DatabaseError`
    func beginDrive() async throws -> [String?: String] {
      await sender.setRunningDrives(from: try await store.drives.next())
      return try await store.drives.interruptedLoops(
        bootID: HostBoot.id, sinceBoot: .nanoseconds(Int64(clamping: Pinger.now)), now: timekeeper.now)
    }
  }

  private let parts: [(drive: Drive, sources: DriveSources)]
  private let statuses: AsyncStream<(link: Int, DriveStatus)>
  private let endStatuses: @Sendable () -> Void
  /// Opens everything that the drive needs; nothing is measured yet.
  /// - Parameters:
  ///   - loopUUIDs: By link, the loops that the drive continues.
  /// - Throws: What keeps a drive from beginning.
  init(
    configuration: ProbeConfiguration, parameters: Parameters, capture: CaptureSettings? = nil,
    continuing loopUUIDs: [String?: String] = [:], environment: Environment
  ) throws {
    let clock = DriveClock(environment.timekeeper)
    let links = configuration.driveLinks
    let (statuses, report) = AsyncStream<(link: Int, DriveStatus)>.makeStream(bufferingPolicy: .bufferingNewest(64))
    self.statuses = statuses
    endStatuses = { report.finish() }
    // Before the drive begins: one that was to be captured and cannot be is none.
    let captures = try links.map { link in try capture.map { try RunningCapture($0.of(link)) } }
    let sources = try links.map { link in
      try DriveSources(
        configuration: configuration, link: link, positions: environment.positions, server: environment.server,
        sender: environment.sender, logger: environment.logger)
    }
    parts = try links.indices.map { index in
      let journal = try DriveJournal(
        configuration: configuration, link: links[index].name, parameters: parameters, path: sources[index].initialPath,
        clock: clock, store: environment.store, server: environment.server.url, logger: environment.logger,
        onDiskFull: { [sender = environment.sender] in Task { await sender.makeRoom() } })
      let drive = Drive(
        configuration: configuration, link: links[index], parameters: parameters, clock: clock, journal: journal,
        loopUUID: loopUUIDs[links[index].name], sources: sources[index], capture: captures[index],
        logger: environment.logger
      ) { report.yield((index, $0)) }
      return (drive, sources[index])
    }
  }

  /// Gives up what the process may do and a drive no longer needs, now that the captures are open.
  static func dropPrivileges(keeping kept: Privileges = [], _ logger: Logger) {
    if let warning = Privileges.drop(keeping: [kept, .files]) { logger.warning("\(warning)") }
  }

  /// Runs until every link's drive has stopped: by ``requestStop()``, or by itself.
  /// - Parameter onStatus: Called once a second with the links in their order.
  func run(onStatus: @escaping @Sendable ([DriveStatus]) -> Void) async -> [Drive.Summary] {
    let watching = Task { [statuses, count = parts.count] in
      var latest: [DriveStatus?] = Array(repeating: nil, count: count)
      var fresh: Set<Int> = []
      for await (link, status) in statuses {
        // One that is heard again before all others belongs to a second in which some had nothing to say: they have ended.
        let isAgain = !fresh.insert(link).inserted
        latest[link] = status
        guard isAgain || fresh.count == count else { continue }
        onStatus(latest.compactMap { $0 })
        fresh = isAgain ? [link] : []
      }
    }
    let settling = Task {
      try await Task.sleep(for: .seconds(10))
      cpprocess_forget_start()
    }
    defer { settling.cancel() }
    let summaries = await withTaskGroup(of: (Int, Drive.Summary).self) { group in
      for (index, part) in parts.enumerated() { group.addTask { (index, await part.drive.run()) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    endStatuses()
    await watching.value
    return summaries.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// - Returns: Whether there was still something to stop.
  @discardableResult
  func requestStop() -> Bool {
    parts.map { $0.sources.requestStop() }.contains(true)
  }

  /// Tries again to write what the disk refused, after the end.
  /// - Returns: How many fences are in memory only, and why something is; no reason when nothing is.
  func save() async -> (unsaved: Int, trouble: String?) {
    var rest: (unsaved: Int, trouble: String?) = (0, nil)
    for part in parts {
      let (unsaved, trouble) = await part.drive.save()
      rest = (rest.unsaved + unsaved, trouble ?? rest.trouble)
    }
    return rest
  }
}

extension DriveJournal {
  /// Begins the journal of a drive on one link: its row in the store and, unless switched off, its log.
  /// - Throws: `DriveLogError`, GRDB's `DatabaseError`
  init(
    configuration: ProbeConfiguration, link: String?, parameters: Parameters, path: Path, clock: DriveClock,
    store: DriveStore, server: String, logger: Logger, onDiskFull: @escaping @Sendable () -> Void
  ) throws {
    let name = clock.started.iso8601.replacing(":", with: "-") + (link.map { "-\($0)" } ?? "")
    let log =
      configuration.drive.log
      ? try DriveLogWriter(
        newIn: store.directory.driveLogs, name: name,
        header: DriveLogHeader(
          started: clock.started, initialPath: path, parameters: parameters,
          pings: .init(interval: configuration.pings.interval, timeout: configuration.pings.timeout), link: link),
        waitsForRoom: true) : nil
    if let log { logger.info("drive log: \(log.path)") }
    if let trouble = log?.trouble {
      logger.error("\(trouble); the drive goes on without its log, whose lines wait in memory until there is room")
    }
    let recorder: DriveRecorder
    do {
      recorder = try DriveRecorder(
        store, started: clock.started, boot: (HostBoot.id, clock.startedBoot), log: log?.path, link: link,
        server: server)
    } catch {
      // On a full disk a service tries again and again.
      if let log { unlink(log.path) }
      throw error
    }
    let ballast = Ballast(store.directory)
    ballast.keep()
    self.init(recorder: recorder, log: log, ballast: ballast, logger: logger, onDiskFull: onDiskFull)
  }
}

extension CaptureSettings {
  /// With several links each has files of its own.
  fileprivate func of(_ link: LinkSettings) -> CaptureSettings {
    var settings = self
    if let name = link.name { settings.path += "-\(name)" }
    return settings
  }
}
