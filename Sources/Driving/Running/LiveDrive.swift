import CPinger
import Coverage
import Foundation
import Logging
import Pinging
import Settings
import Store
import Submission
import Synchronization

/// A drive on all links: one ``DriveRunner`` for each link, with one clock and one receiver.
public struct LiveDrive: Sendable {
  private let parts: [(drive: DriveRunner, sources: DriveSources)]
  private let statuses: AsyncStream<(link: Int, DriveStatus)>
  private let pingTimeout: Duration
  /// The fences are kept here: no memory of them is submitted either.
  private let isKept: Bool
  private let endStatuses: @Sendable () -> Void

  /// Opens everything that the drive needs, on a thread that may wait for the disk; measures nothing yet.
  /// - Parameters:
  ///   - options: How to measure.
  ///   - environment: The parts shared by all drives of the process.
  ///   - loopUUIDs: By link, the loop to continue.
  /// - Throws: ``CaptureRefusal``, `DriveLogError`, GRDB's `DatabaseError`, and errors of the sources: the drive
  ///   cannot begin.
  public static func open(
    options: DriveOptions, continuing loopUUIDs: [String?: String], environment: DriveEnvironment
  ) async throws -> LiveDrive {
    try await DiskExecutor("drive").execute {
      try LiveDrive(options: options, continuing: loopUUIDs, environment: environment)
    }
  }

  private init(
    options: DriveOptions, continuing loopUUIDs: [String?: String], environment: DriveEnvironment
  ) throws {
    let options = try options.withSecret()
    isKept = options.target != nil
    let destination = options.target?.target.host ?? URL(string: environment.server.url)?.host()
    let clock = DriveClock(environment.timekeeper.read(), now: (Pinger.now, .now))
    let links = options.links
    pingTimeout = options.pingTimeout
    let (statuses, report) = AsyncStream<(link: Int, DriveStatus)>.makeStream(bufferingPolicy: .bufferingNewest(64))
    self.statuses = statuses
    endStatuses = { report.finish() }
    // Before the drive begins: a drive whose capture cannot be opened must not start.
    let captures = try links.map { link in try options.capture.map { try RunningCapture($0.of(link)) } }
    let identity = Self.identity(environment)
    let sources = try links.map { link in
      try DriveSources(
        link: link, configuresModem: options.configuresModem, family: options.pingFamily,
        positions: environment.positions, destination: destination, store: identity, sender: environment.sender,
        logger: environment.logger.naming(link.name))
    }
    var files: [DriveFiles] = []
    do {
      parts = try links.indices.map { index in
        let (link, path) = (links[index], sources[index].initialPath)
        let logger = environment.logger.naming(link.name)
        let disk = try DriveDisk(
          options, link: link.name, path: path, clock: clock, store: environment.store, server: environment.server.url,
          logger: logger, onDiskFull: { [sender = environment.sender] in Task { await sender.makeRoom() } })
        files.append(disk.files)
        let value = Drive(options, link: link, clock: clock, path: path, loopUUID: loopUUIDs[link.name])
        let drive = DriveRunner(
          value, disk: disk, sources: sources[index], capture: captures[index], timekeeper: environment.timekeeper,
          logger: logger
        ) { report.yield((index, $0)) }
        return (drive, sources[index])
      }
    } catch {
      files.forEach { $0.discard(environment.logger) }
      throw error
    }
  }

  /// For the pseudonym of the SIM; a drive goes without it.
  private static func identity(_ environment: DriveEnvironment) -> StoreIdentity? {
    do {
      return try StoreReader(environment.store).identity()
    } catch {
      environment.logger.warning("the SIM gets no pseudonym in this drive: \(StoreError.line(error))")
      return nil
    }
  }

  /// Gives up the capabilities that a drive no longer needs after its captures are open.
  public static func dropPrivileges(keeping kept: Privileges = [], _ logger: Logger) {
    if let warning = Privileges.drop(keeping: [kept, .files]) { logger.warning("\(warning)") }
  }

  /// Runs until the drive of every link has stopped, by ``requestStop()`` or by its own decision.
  /// - Parameter onStatus: Called once a second with the status of each link, in order.
  /// - Returns: The result of each link, in order.
  public func run(onStatus: @escaping @Sendable ([DriveStatus]) -> Void) async -> [DriveSummary] {
    let ended = Ended()
    let watching = Task { [statuses, count = parts.count] in
      var latest: [DriveStatus?] = Array(repeating: nil, count: count)
      var fresh: Set<Int> = []
      for await (link, status) in statuses {
        // A second status of this link before one of each other link: those others have ended, so begin a new round.
        let isAgain = !fresh.insert(link).inserted
        latest[link] = status
        guard isAgain || fresh.count == count else { continue }
        for link in ended.links { latest[link]?.hasEnded = true }
        onStatus(latest.compactMap { $0 })
        fresh = isAgain ? [link] : []
      }
    }
    // Drop the start's code from memory. Code that runs again is mapped again without I/O.
    let settling = Task {
      try await Task.sleep(for: .seconds(10))
      cpprocess_forget_start()
    }
    defer { settling.cancel() }
    let summaries = await withTaskGroup(of: (Int, DriveSummary).self) { group in
      for (index, part) in parts.enumerated() {
        group.addTask {
          let summary = await part.drive.run()
          ended.add(index)
          return (index, summary)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    endStatuses()
    await watching.value
    return summaries.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// The links, by number, whose drives have ended.
  private final class Ended: Sendable {
    private let numbers = Mutex<Set<Int>>([])
    var links: Set<Int> { numbers.withLock { $0 } }
    func add(_ link: Int) { numbers.withLock { _ = $0.insert(link) } }
  }

  /// Stops the drive on all links.
  /// - Returns: Whether any of them was still running.
  @discardableResult
  public func requestStop() -> Bool {
    parts.map { $0.sources.requestStop() }.contains(true)
  }

  /// logind waits for 5 s at most (`InhibitDelayMaxSec`).
  private static let longestPreparation = Duration.seconds(3)

  /// Stops the pings on all links and saves the drive. Returns when the host may sleep.
  public func prepareForSleep() async {
    let limit = min(Self.longestPreparation, pingTimeout + .milliseconds(100))
    await withTaskGroup { group in
      for part in parts { group.addTask { await part.drive.prepareForSleep(verdictsWithin: limit) } }
    }
  }

  /// Goes on after ``prepareForSleep()``.
  public func wake() async {
    for part in parts { await part.drive.wake() }
  }

  // MARK: Speed tests

  // Tests use the first link. Several links have different interfaces, so that the others have no part of a test's load.

  /// A speed test, or its QoS tests, begins on the first link.
  public func speedTestBegan() { parts.first?.sources.inbox.put(.input(.speedTestBegan)) }

  /// The speed test loads the first link in this part; `nil`: it does not load it now.
  public func speedTest(loads part: SpeedTestDelay.Part?) {
    parts.first?.sources.inbox.put(.input(.speedTestLoads(part)))
  }

  /// What began has ended.
  public func speedTestEnded() { parts.first?.sources.inbox.put(.input(.speedTestEnded)) }

  /// The delays of the first link's pings without load and under it, when the measurement has ended.
  public func delaysOfSpeedTest() async -> [SpeedTestDelay] {
    speedTest(loads: nil)
    return await parts.first?.drive.delaysOfSpeedTest(verdictsWithin: pingTimeout + .milliseconds(100)) ?? []
  }

  /// Repeats the writes that the disk refused. For use after the end.
  /// - Parameter batches: What was sent from memory meanwhile.
  /// - Returns: What is still in memory only, and the parts of it that can be submitted.
  func save(sent batches: [BatchInMemory]) async -> (rest: UnsavedDrive, parts: [DriveInMemory]) {
    var rest = UnsavedDrive()
    var inMemory: [DriveInMemory] = []
    for part in parts {
      let (more, rows) = await part.drive.save(sent: batches)
      rest.add(more)
      if let rows, !rows.fences.isEmpty, !isKept { inMemory.append(rows) }
    }
    return (rest, inMemory)
  }
}

extension CaptureSettings {
  /// With several links, each has its own files.
  fileprivate func of(_ link: LinkSettings) -> CaptureSettings {
    var settings = self
    if let name = link.name { settings.path += "-\(name)" }
    return settings
  }
}

extension Logger {
  /// The metadata with the name of the link that a line is about.
  public static let linkKey = "link"

  /// - Parameter link: The link's name, if there are several links; else the logger stays as it is.
  package func naming(_ link: String?) -> Logger {
    var logger = self
    logger[metadataKey: Self.linkKey] = link.map { .string($0) }
    return logger
  }
}
