import Coverage

/// An input of a ``LoopCoordinator``.
public enum LoopInput: Hashable, Sendable {
  /// Time has passed: the first input after a start, and the answer to ``LoopEffect/wake(at:)``. More of them do no harm.
  case tick
  /// A fix, or ``Fix/lost``.
  case fix(Fix)
  /// The link of the tests. `otherLink`: it is not that of a mobile network; the text says so, and what to do.
  case link(otherLink: String?)
  /// The operator pauses the loop. A running test is aborted.
  case pause
  /// The operator resumes the loop.
  case resume
  /// The host is about to sleep (logind's PrepareForSleep, true). A running test is aborted.
  case sleep
  /// The host is awake (PrepareForSleep, false).
  case wake
  /// The process stood still, as after SIGSTOP, and goes on. A running test is aborted.
  case stalled
  /// The test `number` ended by itself. Ignored unless this test is running: it may have been aborted before.
  case testEnded(number: Int, LoopResult)
  /// Speed tests used `bytes` more bytes, both directions. They count whenever they arrive, after an abort and after the loop too.
  case traffic(bytes: Int64)
  /// The control server named the loop. Only the first name counts; it is sent with each further request as it came.
  case named(String)
  /// The state is to be on the disk, for example before a shutdown.
  case checkpoint
  /// The user ends the loop.
  case stop
}
