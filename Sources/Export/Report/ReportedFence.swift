import Coverage
import Store

/// An ended fence as a report reads it: the fence with its drive and session, which tell whether two fences are neighbours.
public struct ReportedFence: Sendable {
  /// The fence; its times relate to ``driveStarted``.
  private(set) var fence: Fence
  /// The id of its drive.
  let drive: Int64
  /// The id of its session.
  let session: Int64
  /// The start of its drive.
  let driveStarted: WallTime
  /// The measured link; `nil` when the drive had one link only.
  let link: String?
  /// The clock that dates the drive, and the user's own target; `nil` where none is known.
  private(set) var clock: String?
  private(set) var target: String?
  /// What its session was measured with.
  let equipment: ModemEquipment?

  /// A fence with the given values.
  public init(
    fence: Fence, drive: Int64, session: Int64, driveStarted: WallTime, link: String? = nil,
    equipment: ModemEquipment? = nil
  ) {
    (self.fence, self.drive, self.session, self.driveStarted) = (fence, drive, session, driveStarted)
    (self.link, self.equipment) = (link, equipment)
  }

  /// A stored fence.
  public init(_ stored: StoredFence) {
    self.init(
      fence: stored.fence, drive: stored.session.drive, session: stored.session.id,
      driveStarted: stored.session.driveStarted, link: stored.session.link,
      equipment: stored.session.session.equipment)
    (clock, target) = (stored.session.clock, stored.session.target)
  }

  /// The same with the fence that a drive log gives again.
  public func with(_ fence: Fence) -> ReportedFence {
    var other = self
    other.fence = fence
    return other
  }

  /// When it ended; for an open fence, and for one with an end before its entry, when it began.
  var exited: DriveTime { max(fence.exited ?? fence.entered, fence.entered) }

  /// How long it lasted, in microseconds.
  var microseconds: Int64 { (exited - fence.entered).inMicroseconds }
}

/// An ended speed test as a report reads it.
public struct ReportedSpeedTest: Sendable {
  /// Its number in the store.
  let id: Int64
  /// How it ended; `nil` for an outcome that a later build wrote.
  let outcome: StoredSpeedTest.Outcome?
  /// The technology at its start.
  let technology: Technology?
  /// Its figures; `nil` when it has none, or a later build wrote them in another form.
  let figures: SpeedTestFigures?

  /// A test with the given values.
  public init(id: Int64, outcome: StoredSpeedTest.Outcome?, technology: Technology?, figures: SpeedTestFigures?) {
    (self.id, self.outcome, self.technology, self.figures) = (id, outcome, technology, figures)
  }

  /// A stored test.
  public init(_ stored: StoredSpeedTest) {
    self.init(id: stored.id, outcome: stored.outcome, technology: stored.technology, figures: stored.figures)
  }
}
