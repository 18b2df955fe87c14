import Coverage
import Foundation
import Logging
import Store

/// The files of a drive: its rows in the store, and its log. Runs the effects of a ``DriveJournal``.
struct DriveDisk {
  private var recorder: DriveRecorder
  private let log: DriveLogWriter?
  private let reserveFile: ReserveFile
  /// What was sent of the ended drive from memory, until the log has it too.
  private var accepted: [AcceptedFences] = []
  private let onDiskFull: @Sendable () -> Void

  /// - Parameter onDiskFull: Asks the sender to delete old data.
  init(
    recorder: DriveRecorder, log: DriveLogWriter?, reserveFile: ReserveFile, onDiskFull: @escaping @Sendable () -> Void
  ) {
    (self.recorder, self.log, self.reserveFile, self.onDiskFull) = (recorder, log, reserveFile, onDiskFull)
  }

  /// Creates the row of a drive on one link in the store and, unless switched off, its log.
  /// - Throws: `DriveLogError`, GRDB's `DatabaseError`
  init(
    _ options: DriveOptions, link: String?, path: Path, clock: DriveClock, store: DriveStore, server: String,
    logger: Logger, onDiskFull: @escaping @Sendable () -> Void
  ) throws {
    let name = clock.started.iso8601.replacing(":", with: "-") + (link.map { "-\($0)" } ?? "")
    let source = options.links.first { $0.name == link }
    let log =
      options.writesLog
      ? try DriveLogWriter(
        newIn: store.directory.driveLogs, name: name,
        header: DriveLogHeader(
          started: clock.started, initialPath: path, parameters: options.parameters,
          pings: .init(interval: options.pingInterval, timeout: options.pingTimeout), link: link,
          target: options.target?.target,
          declared: ["network": source?.network.declared, "radio": source?.radio.declared].compactMapValues(\.self)),
        waitsForRoom: true) : nil
    if let log { logger.info("drive log: \(log.path)") }
    if let trouble = log?.trouble {
      logger.error(
        "\(trouble); the drive goes on, and the lines of its log wait in memory until the disk has room",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.diskTrouble)])
    }
    let recorder: DriveRecorder
    do {
      recorder = try DriveRecorder(
        store, started: clock.started, boot: (HostBoot.id, clock.startedBoot), log: log?.path, link: link,
        server: server, target: options.target?.target)
    } catch {
      // A service on a full disk retries often: leave no empty log behind.
      if let log { unlink(log.path) }
      throw error
    }
    let reserveFile = ReserveFile(store.directory)
    if !reserveFile.reserve() {
      logger.warning(
        "less than 24 MiB are free on the disk of \(store.directory.path): no space is reserved for fences; free some",
        metadata: [OperatorEvent.key: .stringConvertible(OperatorEvent.diskTrouble)])
    }
    self.init(recorder: recorder, log: log, reserveFile: reserveFile, onDiskFull: onDiskFull)
  }

  /// The row and the log to remove if the drive does not begin.
  var files: DriveFiles { DriveFiles(recorder: recorder, log: log?.path) }

  /// The drive's id in the store.
  var drive: Int64 { recorder.drive }

  /// Runs `effect`.
  /// - Returns: Its answer, if it has one.
  mutating func perform(_ effect: DiskEffect) -> DiskAnswer? {
    switch effect {
    case .append(let event, let details): return withLog { try $0.append(event, beside: details) }
    case .note(let note): return withLog { try $0.append(note) }
    case .seal(let time): return withLog { try $0.seal(at: time) }
    case .syncLog: return withLog { try $0.sync() }
    case .holdLog(let isHeld):
      log?.isPaused = isHeld
      return nil
    case .closeLog(let usesReserveFile): return closeLog(usesReserveFile)
    case .write(let write):
      if let failure = failure({ try $0.save(write) }) { return .writeFailed(write, failure) }
      if log != nil { accepted += write.batches.compactMap(\.accepted) }
      return .written(write)
    case .repairStore: return .repaired(failure { try $0.repair() })
    case .endDrive(let time, let reason): return .driveEnded(failure { try $0.end(at: time, reason: reason) })
    case .releaseReserveFile(let write, let failure):
      return .reserveFileReleased(reserveFile.release(), for: write, failure)
    case .makeReserveFile: return .reserveFileMade(reserveFile.reserve())
    case .makeRoom:
      onDiskFull()
      return nil
    }
  }

  private func withLog(_ body: (DriveLogWriter) throws -> Void) -> DiskAnswer? {
    guard let log else { return nil }
    do {
      try body(log)
      return .logged(trouble: nil)
    } catch {
      return .logged(trouble: "\(error)")
    }
  }

  private mutating func closeLog(_ usesReserveFile: Bool) -> DiskAnswer? {
    guard let log else { return nil }
    log.isPaused = false
    var answer = withLog { try $0.sync() }
    if usesReserveFile, log.linesWaiting > 0, reserveFile.release() { answer = withLog { try $0.sync() } }
    if log.linesWaiting == 0 { answer = noteAccepted(in: log) ?? answer }
    guard case .logged(let trouble)? = answer else { return nil }
    return .logClosed(trouble: trouble, dropped: log.linesDropped, waiting: log.linesWaiting + accepted.count)
  }

  /// Notes behind the end of the log, if the disk took all of it, what became of the capture.
  func note(_ capture: CaptureNote) throws {
    guard let log, log.linesWaiting == 0 else { return }
    try DriveLogWriter.note(capture, in: log.path)
  }

  /// Writes behind the last line what was sent from memory.
  /// - Returns: `nil` when nothing was.
  private mutating func noteAccepted(in log: DriveLogWriter) -> DiskAnswer? {
    var answer: DiskAnswer?
    while let next = accepted.first {
      answer = withLog { _ in try DriveLogWriter.note(next, in: log.path) }
      guard answer == .logged(trouble: nil) else { break }
      accepted.removeFirst()
    }
    return answer
  }

  private mutating func failure(_ body: (inout DriveRecorder) throws -> Void) -> StoreFailure? {
    do {
      try body(&recorder)
      return nil
    } catch {
      return StoreFailure(error)
    }
  }
}

extension DriveRecorder {
  fileprivate mutating func save(_ write: StoreWrite) throws {
    started = write.started
    try save(
      sessions: write.sessions, fences: write.fences, seen: write.seen,
      batches: write.batches)
  }
}
