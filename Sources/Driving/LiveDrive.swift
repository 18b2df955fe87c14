import CPinger
import ControlServer
import Coverage
import Logging
import Pinging
import Settings
import Submission

/// A drive as its operator sees it: on every link one ``DriveRunner``, all by the same clock and with the same positions.
public struct LiveDrive: Sendable {
  private let parts: [(drive: DriveRunner, sources: DriveSources)]
  private let statuses: AsyncStream<(link: Int, DriveStatus)>
  private let endStatuses: @Sendable () -> Void

  /// Opens everything that the drive needs; nothing is measured yet.
  /// - Parameters:
  ///   - loopUUIDs: By link, the loops that the drive continues.
  /// - Throws: What keeps a drive from beginning.
  public init(
    options: DriveOptions, continuing loopUUIDs: [String?: String] = [:], environment: DriveEnvironment
  ) throws {
    let clock = DriveClock(environment.timekeeper.read(), now: (Pinger.now, .now))
    let links = options.links
    let (statuses, report) = AsyncStream<(link: Int, DriveStatus)>.makeStream(bufferingPolicy: .bufferingNewest(64))
    self.statuses = statuses
    endStatuses = { report.finish() }
    // Before the drive begins: one that was to be captured and cannot be is none.
    let captures = try links.map { link in try options.capture.map { try RunningCapture($0.of(link)) } }
    let sources = try links.map { link in
      try DriveSources(
        link: link, family: options.pingFamily, positions: environment.positions, server: environment.server,
        sender: environment.sender, logger: environment.logger)
    }
    parts = try links.indices.map { index in
      let (link, path) = (links[index], sources[index].initialPath)
      let disk = try DriveDisk(
        options, link: link.name, path: path, clock: clock, store: environment.store, server: environment.server.url,
        logger: environment.logger, onDiskFull: { [sender = environment.sender] in Task { await sender.makeRoom() } })
      let value = Drive(options, link: link, clock: clock, path: path, loopUUID: loopUUIDs[link.name])
      let drive = DriveRunner(
        value, disk: disk, sources: sources[index], capture: captures[index], timekeeper: environment.timekeeper,
        logger: environment.logger
      ) { report.yield((index, $0)) }
      return (drive, sources[index])
    }
  }

  /// Gives up what the process may do and a drive no longer needs, now that the captures are open.
  public static func dropPrivileges(keeping kept: Privileges = [], _ logger: Logger) {
    if let warning = Privileges.drop(keeping: [kept, .files]) { logger.warning("\(warning)") }
  }

  /// Runs until every link's drive has stopped: by ``requestStop()``, or by itself.
  /// - Parameter onStatus: Called once a second with the links in their order.
  public func run(onStatus: @escaping @Sendable ([DriveStatus]) -> Void) async -> [DriveSummary] {
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
    let summaries = await withTaskGroup(of: (Int, DriveSummary).self) { group in
      for (index, part) in parts.enumerated() { group.addTask { (index, await part.drive.run()) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    endStatuses()
    await watching.value
    return summaries.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// - Returns: Whether there was still something to stop.
  @discardableResult
  public func requestStop() -> Bool {
    parts.map { $0.sources.requestStop() }.contains(true)
  }

  /// Tries again to write what the disk refused, after the end.
  /// - Returns: How many fences are in memory only, and why something is; no reason when nothing is.
  public func save() async -> (unsaved: Int, trouble: String?) {
    var rest: (unsaved: Int, trouble: String?) = (0, nil)
    for part in parts {
      let (unsaved, trouble) = await part.drive.save()
      rest = (rest.unsaved + unsaved, trouble ?? rest.trouble)
    }
    return rest
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
