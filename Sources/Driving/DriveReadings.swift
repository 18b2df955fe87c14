import Submission

/// The state of the surroundings of a ``Drive``, read once a second.
struct DriveReadings: Hashable, Sendable {
  var clock: Timekeeper.Reading
  var isCaptureInTrouble = false
}
