import ControlServer
import Coverage
import DriveLog
import DriveStore
import Foundation
import Logging
import NetworkPath
import Submission

/// `record`: one drive in the foreground, submitted at its end.
public struct Recording: Sendable {
  private let configuration: ProbeConfiguration
  private let parameters: Parameters
  private let submits: Bool
  private let capture: CaptureSettings?
  private let logger: Logger

  /// - Parameters:
  ///   - maximumDuration: Ends the drive before the configuration's own limit does.
  ///   - submits: Whether the drive is sent when it has ended.
  ///   - capture: Where the pings are captured as packets; `nil`: nowhere.
  public init(
    configuration: ProbeConfiguration, maximumDuration: Duration?, submits: Bool, capture: CaptureSettings? = nil,
    logger: Logger
  ) {
    self.configuration = configuration
    var parameters = configuration.parameters
    if let maximumDuration { parameters.maximumDuration = min(parameters.maximumDuration, maximumDuration) }
    self.parameters = parameters
    self.submits = submits
    self.capture = capture
    self.logger = logger
  }

  /// Records until `stop` yields, or the drive ends by itself; then submits, until `stop` yields again.
  /// - Parameters:
  ///   - onStatus: Called once a second.
  ///   - print: Takes the lines of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`, and what else keeps a drive from beginning.
  public func run(
    stop: AsyncStream<Void>, onStatus: @escaping @Sendable (DriveStatus) -> Void, print: @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    try await withControlServer(configuration, for: "without it there is nothing to ping", logger: logger) { server in
      let directory = StateDirectory(path: configuration.stateDirectory)
      let store = try DriveStore(directory: directory, purpose: "\(Program.name) record")
      return try await record(into: store, server: server, stop: stop, onStatus: onStatus, print: print)
    }
  }

  private func record(
    into store: DriveStore, server: ControlServerClient, stop: AsyncStream<Void>,
    onStatus: @escaping @Sendable (DriveStatus) -> Void, print: @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let registration = Registration(store: store, server: server)
    let monitor = PathMonitor(
      source: configuration.network, interface: configuration.pings.interface,
      destination: URL(string: server.url)?.host(), logger: logger)
    let path = monitor.current
    let sender = try Sender(
      store: store, server: server, registration: registration, settings: configuration.sender, clock: .host,
      logger: logger)
    let sources = try DriveSources(
      configuration: configuration, path: monitor, initialPath: path, server: server, registration: registration,
      logger: logger, onTestRequest: { Task { await sender.nudge() } })
    // Before the drive begins: one that was to be captured and cannot be is none.
    let capture = try capture.map { try RunningCapture($0) }
    let clock = DriveClock()
    let journal = try journal(store, clock, path)
    await sender.setRunningDrive(journal.drive)
    let drive = Drive(
      configuration: configuration, parameters: parameters, path: path, clock: clock, journal: journal,
      sources: sources, capture: capture, logger: logger,
      onStatus: onStatus)

    let (givingUp, giveUp) = AsyncStream<Void>.makeStream()
    let listening = Task {
      for await _ in stop where !sources.requestStop() { giveUp.yield() }
    }
    defer { listening.cancel() }
    let earlier = submits ? Task { await sender.keepSending() } : nil
    let summary = await drive.run()
    earlier?.cancel()
    Self.lines(summary).forEach(print)
    let report = try await untilStopped(by: givingUp) {
      try await waitForRoom(drive, in: store.directory)
      return submits ? try await submit(summary, with: sender) : nil
    }
    guard let report else { return .done }
    print(report.line)
    return report.outcome
  }

  private func journal(_ store: DriveStore, _ clock: DriveClock, _ path: Path) throws -> DriveJournal {
    let file = "\(store.directory.driveLogs)/\(clock.started.iso8601.replacing(":", with: "-")).jsonl"
    let log =
      configuration.drive.log
      ? try DriveLogWriter(
        path: file,
        header: DriveLogHeader(
          started: clock.started, initialPath: path, parameters: parameters,
          pings: .init(interval: configuration.pings.interval, timeout: configuration.pings.timeout))) : nil
    if log != nil { logger.info("drive log: \(file)") }
    let recorder = try DriveRecorder(store, started: clock.started, log: log == nil ? nil : file)
    let ballast = Ballast(store.directory)
    ballast.keep()
    return DriveJournal(recorder: recorder, log: log, ballast: ballast, logger: logger)
  }

  /// Waits until all fences of the drive are on the disk, for a minute at most.
  private func waitForRoom(_ drive: Drive, in directory: StateDirectory) async throws {
    for second in 0... {
      let (unsaved, trouble) = await drive.save()
      guard unsaved > 0 else { return }
      guard second < 60, !Task.isCancelled else { throw RecordingError.unsaved(fences: unsaved, trouble: trouble) }
      if second == 0 {
        logger.error(
          "\(unsaved) fences are in memory only; free some space for \(directory.path) within a minute to keep them")
      }
      // A second stop gives up at once: then the loop ends above.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  /// Sends the drive, and after it what waited before.
  private func submit(_ summary: Drive.Summary, with sender: Sender) async throws -> Report {
    logger.info("submitting \(summary.submittableFences) fences")
    await sender.setRunningDrive(nil)
    let report = try await sender.pass(.drive(summary.drive))
    guard report.outcome == .done else { return report }
    return report + (try await sender.pass(.cold))
  }

  private static func lines(_ summary: Drive.Summary) -> [String] {
    let reason =
      switch summary.reason {
      case .user: "stopped"
      case .duration: "its longest duration is reached"
      case .insufficientAccuracy: "no accurate position since its start"
      case .endOfLog: "the log ends"
      }
    let fences = "\(summary.fences) fences, \(summary.submittableFences) of them to submit"
    return [
      "drive \(summary.drive) ended after \(DriveStatus.clock(summary.lasted)): \(reason)",
      "\(fences); \(summary.tally.pings) pings, \(summary.tally.line)",
    ] + (summary.capture.map { [$0.line] } ?? [])
  }
}

/// A drive has ended, but not well.
enum RecordingError: Error, CustomStringConvertible {
  case unsaved(fences: Int, trouble: String)

  var description: String {
    switch self {
    case .unsaved(let fences, let trouble):
      "\(fences) fences are lost, they could not be written: \(trouble); the others wait for \(Program.name) submit"
    }
  }
}
