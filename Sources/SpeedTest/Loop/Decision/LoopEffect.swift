/// A command of a ``LoopCoordinator`` to its shell. The shell runs the effects of a step in order, each one completely, before the next
/// input.
public enum LoopEffect: Hashable, Sendable {
  /// Close the connections of the running test. It is stored as aborted; the next pass reports it. Comes first in its step.
  case abortTest(number: Int, LoopAbort)
  /// Write the state to the disk before the next effect: after a power loss, no test number is used a second time.
  case persist(LoopMemory)
  /// Start a test. `loopUUID` is the server's name of the loop as it came; `nil` before the server has named it.
  case startTest(number: Int, loopUUID: String?)
  /// Tell the operator that a test is due and cannot start.
  case notice(LoopNotice)
  /// The loop is over.
  case ended(LoopEnd)
  /// Send ``LoopInput/tick`` at this time of CLOCK_BOOTTIME. Replaces the earlier time.
  case wake(at: Duration)
}
