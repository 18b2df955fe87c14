/// An element of the stream that drives a ``DriveRunner``.
enum DriveSignal: Sendable {
  case input(DriveInput)
  /// Ping events can be read.
  case pingsDue
  /// A second has passed.
  case tick
}
