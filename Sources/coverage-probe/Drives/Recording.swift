import Coverage
import Driving
import Foundation
import Logging
import Pinging
import Service
import Settings
import SpeedTest
import Store
import Submission

/// `record`: records one drive in the foreground, and submits it at its end.
struct Recording: Sendable {
  private let configuration: ProbeConfiguration
  private let options: DriveOptions
  private let submits: Bool
  /// Whether the drive itself is submitted: earlier ones can be, beside one with a target of its own.
  private var submitsDrive: Bool { submits && options.target == nil }
  /// The loop of speed tests beside the drive; `nil` for none.
  private let loop: LoopRules?
  private let logger: Logger

  /// - Parameter maximumDuration: Ends the drive earlier than the configuration's limit.
  /// - Throws: `LoopFault`
  init(
    configuration: ProbeConfiguration, maximumDuration: Duration?, submits: Bool, withLoop: Bool = false,
    capture: CaptureSettings? = nil, logger: Logger
  ) throws {
    self.configuration = configuration
    var options = configuration.driveOptions
    if let maximumDuration {
      options.parameters.maximumDuration = min(options.parameters.maximumDuration, maximumDuration)
    }
    options.capture = capture
    (self.options, self.submits) = (options, submits)
    loop = withLoop ? try configuration.loopRules() : nil
    self.logger = logger
  }

  /// Records until `stop` yields, or the drive ends by itself; then submits, until `stop` yields again.
  /// - Parameter onStatus: Called once a second, with a status for each link.
  /// - Throws: ``ConfigurationError``, `StoreError`, ``RecordingError``, and errors of the beginning of a drive.
  func run(
    stop: AsyncStream<Void>, onStatus: @escaping @Sendable ([DriveStatus]) -> Void,
    print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    // A loop of speed tests needs the control server, whatever is pinged.
    let server = try ControlServerClient.configured(
      configuration, for: ControlServerClient.nothingToPing, unlessTarget: loop == nil)
    let environment = try DriveEnvironment(
      configuration: configuration, purpose: "\(Program.name) record", server: server, logger: logger)
    return try await record(in: environment, stop: stop, onStatus: onStatus, print: print)
  }

  /// Restores earlier drives, records this one with its sources, and submits it.
  private func record(
    in environment: DriveEnvironment, stop: AsyncStream<Void>,
    onStatus: @escaping @Sendable ([DriveStatus]) -> Void, print: @escaping @Sendable (String) -> Void
  ) async throws -> CommandOutcome {
    let isRecoveryLeft = await environment.recoverBeforeDrive(configuration)
    let loops = try await environment.beginDrive()
    let drive = try await LiveDrive.open(options: options, continuing: loops, environment: environment)
    LiveDrive.dropPrivileges(keeping: options.privileges, logger)
    let receiving = Task { await environment.positions.run() }
    defer { receiving.cancel() }
    let (givingUp, giveUp) = AsyncStream<Void>.makeStream()
    let listening = Task {
      var isFirst = true
      for await _ in stop {
        if !drive.requestStop() || !isFirst { giveUp.yield() }
        isFirst = false
      }
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
    var (report, trouble) = try await untilStopped(by: givingUp) {
      let (fromMemory, isStored) = try await waitForDisk(drive, environment)
      if isRecoveryLeft { await recoverRest(in: environment) }
      guard submitsDrive else { return (nil as PassReport?, nil as String?) }
      // The store does not know which of its fences were submitted from memory, and cannot be told.
      guard isStored else { return (fromMemory, nil) }
      do {
        return (fromMemory + (try await submit(summaries, with: environment.sender)), nil)
      } catch {
        // What the store has is safe; a pass cannot mark it on a disk that refuses writes.
        guard let trouble = StoreError.sendingTrouble(error) else { throw error }
        return (fromMemory, trouble)
      }
    }
    if let expired = await earlier?.value, expired > 0 {
      report = PassReport(fencesExpired: expired) + (report ?? PassReport())
    }
    if let report, trouble == nil || report.fencesSent + report.fencesExpired > 0 { print(report.line) }
    if let trouble { print("not submitted: \(trouble); waiting data stays stored") }
    summaries.compactMap(\.silenceLine).forEach(print)
    // Its last line says which positions were refused.
    receiving.cancel()
    await receiving.value
    let outcome = report?.outcome ?? .done
    return (trouble == nil || outcome == .failed ? outcome : .kept).of(summaries)
  }

  /// Restores what the beginning of the drive left for later, until a stop.
  private func recoverRest(in environment: DriveEnvironment) async {
    let recovery = WorkProgress("recovery")
    _ = await environment.recoverRest(configuration) { done, all in
      recovery.show(done, of: "drive log", total: { all })
    } until: {
      Task.isCancelled
    }
    recovery.end()
  }

  /// Starts a loop of speed tests beside the drive; it ends with it.
  private func beginLoop(
    beside drive: LiveDrive, _ environment: DriveEnvironment, _ print: @escaping @Sendable (String) -> Void
  ) async throws -> (running: RunningLoop, task: Task<Void, Never>)? {
    guard let loop else { return nil }
    let running = try await RunningLoop(loop, configuration, environment, isNew: true) {
      LoopDisplay.report($0, of: loop.count, show: nil, print: print)
    }
    running.setup.observer.follow(drive)
    running.setup.conditions.note(drive: await environment.sender.runningDrive)
    return (running, Task { _ = await running.run() })
  }

  /// How many seconds the end of a drive waits for a disk that refuses it, and between two passes from memory.
  private static let (patience, passInterval) = (60, 10)

  /// Waits until the drive is on the disk, or until the server has the fences that the disk refuses; for a minute at most.
  /// - Returns: What was submitted from memory, and whether the store has all of the drive.
  /// - Throws: ``RecordingError/unsaved(fences:trouble:)`` when fences are nowhere else at the end, or when a stop ends the wait.
  private func waitForDisk(_ drive: LiveDrive, _ environment: DriveEnvironment) async throws -> (
    PassReport, isStored: Bool
  ) {
    var saving = DriveSaving(drive, in: environment, submits: submitsDrive)
    var report = PassReport()
    var second = 0
    while true {
      var rest = await saving.attempt(mayPause: second < Self.patience && !Task.isCancelled)
      if rest.endangered > 0, submitsDrive, second % Self.passInterval == 0 {
        report = report + (try await environment.sender.pass(.memory))
        rest = await saving.attempt()
      }
      let isWorthAWait = rest.endangered > 0 || rest.submitted == 0
      guard let words = rest.words, isWorthAWait, second < Self.patience, !Task.isCancelled else {
        try conclude(rest)
        return (report, rest.isStored)
      }
      if second == 0 {
        logger.naming(rest.link).error(
          "\(words) (\(rest.trouble ?? "")); fix this for \(environment.store.directory.path) within a minute to keep \(rest.endangered == 1 ? "it" : "them")"
        )
      }
      // A second stop ends the wait: then the loop ends above.
      try? await Task.sleep(for: .seconds(1))
      second += 1
    }
  }

  /// Says what the disk refuses for good.
  private func conclude(_ rest: UnsavedDrive) throws {
    let logger = logger.naming(rest.link)
    if rest.logLines > 0 {
      logger.error("the drive log lacks its last \(counted(rest.logLines, "line")): \(rest.trouble ?? "")")
    }
    if rest.submitted > 0 {
      logger.warning(
        "\(counted(rest.submitted, "fence was", "fences were")) submitted from memory, and \(rest.submitted == 1 ? "is" : "are") not in the store: \(rest.trouble ?? "")"
      )
    }
    if rest.endangered > 0 { throw RecordingError.unsaved(fences: rest.endangered, trouble: rest.trouble ?? "") }
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
