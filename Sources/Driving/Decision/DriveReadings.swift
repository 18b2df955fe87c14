import Submission

/// The readings that a ``Drive`` gets once a second.
struct DriveReadings: Hashable, Sendable {
  var clock: Timekeeper.Reading
  var isCaptureInTrouble = false
}
