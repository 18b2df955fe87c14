/// The state of a speed test in the database.
enum SpeedTestState: String, Sendable {
  /// Registered; takes one result.
  case started = "STARTED"
  case finished = "FINISHED"
  /// Closed by the client without a result.
  case aborted = "ABORTED"
  case failed = "ERROR"
}
