import Driving

/// When the service begins and ends drives, and what it says about that: a pure value, time comes in as an argument. ``Service`` does
/// what ``step(at:)`` returns, and reports what became of it.
struct ServiceDecision: Sendable {
  enum Step: Hashable, Sendable {
    case beginDrive
    case endDrive
  }

  private enum Stage: Hashable, Sendable {
    case noDrive
    case driving
    /// The drive of every link has stopped; not all of it is on the disk.
    case saving
    /// What the disk refused of the ended drive.
    case refused(UnsavedDrive)
  }

  /// The wait after a drive that could not begin, or that ended by itself at once.
  static let retryDelay = Duration.seconds(10)
  /// How long a stop waits for a disk that refuses the last fences.
  static let patience = Duration.seconds(3)

  var recording: RecordingDecision
  private var stage = Stage.noDrive
  /// No drive begins while the socket's path may be a wrong one: the operator must be able to stop the drive.
  private(set) var isSocketStarted = false
  /// Whether the host sleeps or is about to. No drive begins.
  private var isAsleep = false
  /// When the first stop came.
  private var stopAsked: ContinuousClock.Instant?
  /// No drive begins before this time.
  private var nextAttempt: ContinuousClock.Instant?
  /// Why no drive runs although one is wanted.
  private var obstacle: String?
  /// Why the service ends, when it does not end well.
  private(set) var failure: (any Error)?

  init(_ recording: RecordingDecision) { self.recording = recording }

  // MARK: What happens

  mutating func socketStarted() { isSocketStarted = true }
  mutating func sleep() { isAsleep = true }
  mutating func wake() { isAsleep = false }

  /// SIGTERM, SIGINT, or a failure. The first one counts: the patience with a full disk begins at it.
  mutating func stop(at now: ContinuousClock.Instant, because failure: (any Error)? = nil) {
    (stopAsked, self.failure) = (stopAsked ?? now, self.failure ?? failure)
  }

  /// The operator asks now, so a wait after trouble ends.
  mutating func apply(_ command: ServiceCommand) {
    recording.apply(command)
    nextAttempt = nil
  }

  mutating func driveBegan() { (stage, obstacle) = (.driving, nil) }

  mutating func driveCouldNotBegin(_ reason: String, at now: ContinuousClock.Instant) {
    (obstacle, nextAttempt) = (reason, now + Self.retryDelay)
  }

  /// - Parameter wasShort: A drive of a link ended by itself at once. If the server allows only very short drives, do not request a test
  ///   each second.
  mutating func driveEnded(wasShort: Bool, at now: ContinuousClock.Instant) {
    stage = .saving
    if wasShort { nextAttempt = now + Self.retryDelay }
  }

  /// The disk refused a part of the ended drive again.
  /// - Returns: Whether to give the rest up: a stop cannot wait longer, or the next drive is worth more than the end of a log. Fences that
  ///   are lost with it are a failure.
  mutating func refused(_ rest: UnsavedDrive, _ line: String, at now: ContinuousClock.Instant) -> Bool {
    (stage, obstacle) = (.refused(rest), line)
    let givesUp = stopAsked.map { now - $0 >= Self.patience } ?? false || wantsDrive(at: now) && rest.isStored
    if givesUp, rest.endangered > 0, failure == nil {
      failure = RecordingError.unsaved(fences: rest.endangered, trouble: rest.trouble ?? "")
    }
    return givesUp
  }

  /// The ended drive is on the disk, or given up.
  mutating func driveWasPutAway() { (stage, obstacle) = (.noDrive, nil) }

  // MARK: What follows

  mutating func step(at now: ContinuousClock.Instant) -> Step? {
    let isWanted = wantsDrive(at: now)
    if !isWanted, !isSaving { obstacle = nil }
    return switch stage {
    case .noDrive: isWanted && !isAsleep && nextAttempt.map { now >= $0 } ?? true ? .beginDrive : nil
    case .driving: isWanted ? nil : .endDrive
    case .saving, .refused: nil
    }
  }

  var isStopping: Bool { stopAsked != nil }
  /// A stop was asked for, and no drive is left.
  var isOver: Bool { isStopping && stage == .noDrive }
  var isDriving: Bool { stage == .driving }
  /// An ended drive is not completely on the disk.
  var isSaving: Bool { stage != .noDrive && !isDriving }
  /// What the disk refused of the ended drive; `nil` when none has ended.
  var unsaved: UnsavedDrive? { if case .refused(let rest) = stage { rest } else { isSaving ? UnsavedDrive() : nil } }

  private func wantsDrive(at now: ContinuousClock.Instant) -> Bool {
    isSocketStarted && !isStopping && recording.wantsDrive(at: now)
  }

  var state: ServiceStatus.State { isStopping ? .stopping : isDriving ? .recording : .idle }

  func reason(at now: ContinuousClock.Instant) -> String { obstacle ?? recording.reason(at: now) }

  /// What `status` says from now on, as the answer to a command.
  func answer(to command: ServiceCommand, at now: ContinuousClock.Instant) -> String {
    let reason = recording.reason(at: now)
    guard recording.wantsDrive(at: now) else { return "\(command.rawValue): not recording (\(reason))" }
    if let obstacle { return "\(command.rawValue): not recording yet (\(reason)): \(obstacle)" }
    return "\(command.rawValue): recording (\(reason))"
  }
}
