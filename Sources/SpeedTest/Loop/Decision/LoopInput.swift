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
  /// The process stood still during the test `number`, as after SIGSTOP, and goes on. This test is aborted if it runs.
  case stalled(number: Int)
  /// The test `number` ended by itself, and counts with a result or without. Ignored unless this test is running: it may have been aborted before.
  case testEnded(number: Int, hasResult: Bool)
  /// Speed tests used `bytes` more bytes, both directions. They count whenever they arrive, after an abort and after the loop too.
  case traffic(bytes: Int64)
  /// The server's name of the loop. The first one counts, and each later one with `isNewLoop`: the server did not know the earlier one.
  case named(String, isNewLoop: Bool = false)
  /// The state is to be on the disk, for example before a shutdown.
  case checkpoint
  /// The user ends the loop.
  case stop
}

/// A command of a ``LoopCoordinator`` to its shell. The shell runs the effects of a step in order, each one completely, before the next
/// input.
enum LoopEffect: Hashable, Sendable {
  /// Close the connections of the running test. It is stored as aborted; the next pass reports it. Comes first in its step.
  case abortTest(number: Int, LoopAbort)
  /// Write the state to the disk before the next effect: after a power loss, no test number is used a second time.
  case persist(LoopMemory)
  /// Start a test. `loopUUID` is the server's name of the loop as it came; `nil` before the server has named it.
  case startTest(number: Int, loopUUID: String?)
  /// Tell the operator that a test is due and cannot start.
  case notice(LoopNotice)
  case ended(LoopEnd)
  /// Send ``LoopInput/tick`` at this time of CLOCK_BOOTTIME. Replaces the earlier time.
  case wake(at: Duration)
}
