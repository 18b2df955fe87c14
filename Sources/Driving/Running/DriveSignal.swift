/// An element of a ``DriveInbox``.
enum DriveSignal: Sendable {
  case input(DriveInput)
  /// Ping events can be read.
  case pingsDue
  /// A second has passed.
  case tick
}
