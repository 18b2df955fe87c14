import ControlServer
import Coverage
import DriveLog
import DriveStore
import Driving
import Foundation
import Logging
import Looping
import Pinging
import Settings
import Submission

/// `record`: records one drive in the foreground, and submits it at its end.
public struct Recording: Sendable {
  private let configuration: ProbeConfiguration
  private let options: DriveOptions
  private let submits: Bool
  /// The loop of speed tests beside the drive; `nil` for none.
  private let loop: LoopRules?
  private let logger: Logger

  /// - Parameters:
  ///   - configuration: All settings.
  ///   - maximumDuration: Ends the drive earlier than the configuration's limit.
  ///   - submits: Whether to send the drive when it has ended.
  ///   - withLoop: Whether a new loop of speed tests runs beside the drive.
  ///   - capture: Where the packets of the pings are captured; `nil`: nowhere.
  ///   - logger: The program's log.
  /// - Throws: `LoopRules.Fault`
  public init(
    configuration: ProbeConfiguration, maximumDuration: Duration?, submits: Bool, withLoop: Bool = false,
    capture: CaptureSettings? = nil, logger: Logger
  ) throws {
    self.configuration = configuration
    var options = configuration.driveOptions
    if let maximumDuration {
      options.parameters.maximumDuration = min(options.parameters.maximumDuration, maximumDuration)
    }
    options.capture = capture
    self.options = options
    self.submits = submits
    loop = withLoop ? try configuration.loopRules() : nil
    self.logger = logger
  }

  /// Records until `stop` yields, or the drive ends by itself; then submits, until `stop` yields again.
  /// - Parameters:
  ///   - stop: Yields when the operator stops the command.
  ///   - onStatus: Called once a second, with a status for each link.
  ///   - print: Receives the lines of the result.
  /// - Throws: ``ConfigurationError``, `StoreError`, ``RecordingError``, and errors of the beginning of a drive.
  public func run(
    stop: AsyncStream<Void>, onStatus: @escaping @Sendable ([DriveStatus]) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    try await withControlServer(configuration, for: "without it there is nothing to ping", logger: logger) { server in
      let environment = try DriveEnvironment(
        configuration: configuration, purpose: "\(Program.name) record", server: server, logger: logger)
      return try await record(in: environment, stop: stop, onStatus: onStatus, print: print)
    }
  }

  /// Restores earlier drives, records this one with its sources, and submits it.
  private func record(
    in environment: DriveEnvironment, stop: AsyncStream<Void>,
    onStatus: @escaping @Sendable ([DriveStatus]) -> Void, print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    await environment.recover(configuration)
    let loops = try await environment.beginDrive()
    let drive = try await LiveDrive.open(options: options, continuing: loops, environment: environment)
    let isBound = options.links.contains { $0.interface != nil }
    LiveDrive.dropPrivileges(keeping: options.capture != nil || isBound ? .recovery : [], logger)
    let receiving = Task { await environment.positions.run() }
    defer { receiving.cancel() }
    let (givingUp, giveUp) = AsyncStream<Void>.makeStream()
    let listening = Task {
      for await _ in stop where !drive.requestStop() { giveUp.yield() }
    }
    defer { listening.cancel() }
    let earlier = submits ? Task { await environment.sender.keepSending() } : nil
    let looping = try await beginLoop(beside: drive, environment, print)
    let summaries = await drive.run(onStatus: onStatus)
    // The loop ends with the drive, as by a stop.
    _ = looping?.running.stop()
    await looping?.task.value
    earlier?.cancel()
    summaries.flatMap(\.lines).forEach(print)
    let report = try await untilStopped(by: givingUp) {
      try await waitForRoom(drive, in: environment.store.directory)
      return submits ? try await submit(summaries, with: environment.sender) : nil
    }
    if let report { print(report.line) }
    summaries.compactMap(\.silenceLine).forEach(print)
    // Its last line says which positions were refused.
    receiving.cancel()
    await receiving.value
    return (report?.outcome ?? .done).of(summaries)
  }

  /// Starts a loop of speed tests beside the drive; it ends with it.
  private func beginLoop(
    beside drive: LiveDrive, _ environment: DriveEnvironment, _ print: @escaping @Sendable (String) -> Void
  ) async throws -> (running: RunningLoop, task: Task<Void, Never>)? {
    guard let loop else { return nil }
    let running = try await RunningLoop(loop, configuration, environment, isNew: true) {
      LoopDisplay.report($0, of: loop.count, show: nil, print: print)
    }
    running.bench.companion.follow(drive)
    running.bench.surroundings.note(drive: await environment.sender.runningDrive)
    return (running, Task { _ = await running.run() })
  }

  /// Waits until all fences of the drive are on the disk, for a minute at most.
  /// - Throws: ``RecordingError/unsaved(fences:trouble:)`` when the disk refuses them to the end, or when a stop ends the wait.
  private func waitForRoom(_ drive: LiveDrive, in directory: StateDirectory) async throws {
    for second in 0... {
      let (unsaved, trouble) = await drive.save()
      guard unsaved > 0 else { return }
      guard second < 60, !Task.isCancelled else {
        throw RecordingError.unsaved(fences: unsaved, trouble: trouble ?? "")
      }
      if second == 0 {
        logger.error(
          "\(counted(unsaved, "fence is", "fences are")) in memory only\(trouble.map { " (\($0))" } ?? ""); fix this for \(directory.path) within a minute to keep \(unsaved == 1 ? "it" : "them")"
        )
      }
      // A second stop ends the wait: then the loop ends above.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  /// Sends the drive, and then the sessions that waited before it, unless the first pass met trouble.
  private func submit(_ summaries: [DriveSummary], with sender: Sender) async throws -> PassReport {
    logger.info("submitting \(counted(summaries.reduce(0) { $0 + $1.submittableFences }, "fence"))")
    await sender.setRunningDrives(from: nil)
    var report = PassReport()
    for summary in summaries { report = report + (try await sender.pass(.drive(summary.drive))) }
    guard report.isUnhindered else { return report }
    return report + (try await sender.pass(.cold))
  }
}

extension DriveSummary {
  /// The result in lines for an operator.
  var lines: [String] {
    let ending =
      switch reason {
      case .user: "stopped"
      case .duration: "its maximum duration is reached"
      case .insufficientAccuracy: "no accurate position since its start"
      case .endOfLog: "the log ends"
      }
    let name = link.map { " (\($0))" } ?? ""
    return [
      "drive \(drive)\(name) ended after \(DriveStatus.clock(lasted)): \(ending)",
      "\(counted(fences, "fence")), \(submittableFences) of them to submit; \(tally.pings == 0 ? tally.line : "\(counted(tally.pings, "ping")), \(tally.line)")",
    ] + unsentLines + (capture.map { [$0.line] } ?? [])
  }

  private var unsentLines: [String] {
    guard tally.unsent > 0 else { return [] }
    let reason = unsentReason.map { ": \($0)" } ?? ""
    return ["\(counted(tally.unsent, "ping")) could not be sent, neither answered nor lost\(reason)"]
  }

  /// Why the drive measured nothing; `nil` when it measured.
  var silenceLine: String? { silence.map { "no ping was sent\(link.map { " (\($0))" } ?? ""): \($0)" } }
}
