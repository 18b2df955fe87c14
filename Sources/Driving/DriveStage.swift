import Coverage

/// The part of a step that follows when the effects before it have been run: it depends on their answers.
enum DriveStage: Hashable, Sendable {
  /// The store has, or has refused, the open fence: the drive log is next.
  case checkpointed(at: DriveTime)
  case report(at: DriveTime)
  /// Which test to ping on, and whether to ask for another one.
  case decision
  /// The store has, or has refused, the last fences: the end of the drive is next.
  case ending(at: DriveTime, StopReason)
}
