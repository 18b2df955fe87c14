import Coverage

/// The part of a step that runs after the effects before it, because it depends on their answers.
enum DriveStage: Hashable, Sendable {
  /// The store has accepted or refused the open fence; next is the drive log.
  case checkpointed(at: DriveTime)
  case report(at: DriveTime)
  /// Decide which test to ping on, and whether to request another one.
  case decision
  /// The store has accepted or refused the last fences; next is the end of the drive.
  case ending(at: DriveTime, StopReason)
}
