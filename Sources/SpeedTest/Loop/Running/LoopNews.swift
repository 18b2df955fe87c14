import Submission

/// News of a running loop, for a display.
public enum LoopNews: Sendable {
  /// A test begins.
  case testBegan(number: Int)
  /// What the test is doing.
  case progress(number: Int, SpeedTestProgress)
  /// A test has ended; its result is on the disk.
  case testEnded(number: Int, TestEnd)
  /// A test is due and cannot start.
  case notice(LoopNotice)
  /// The loop is over.
  case ended(LoopEnd)
}
