/// What a test is doing, for a display.
public struct SpeedTestProgress: Hashable, Sendable {
  /// The parts of a test in their order.
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    case connecting, downloadPreTest, ping, download, uploadPreTest, upload, closing
  }

  /// The part.
  public let phase: Phase
  /// The thread that reports.
  public let thread: Int
  /// The thread's newest point in a main phase; `nil` at the start of a phase.
  public let sample: Sample?
}
