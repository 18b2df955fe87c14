import NIOCore

/// An event of the socket, with the number of its connection, or of the alarm clock.
enum SocketInput: Sendable {
  case connected(connection: Int, any Channel)
  /// The connection could not be made; the reason is for the operator.
  case failed(connection: Int, String)
  case bytes(connection: Int, [UInt8])
  /// The connection ended; with the text of an error, if there was one.
  case ended(connection: Int, String?)
  /// The time of the alarm has come.
  case alarm(at: ContinuousClock.Instant)
}
