import Coverage
import Store

/// How a test ended.
public struct TestEnd: Sendable {
  /// How it ended.
  public let outcome: StoredSpeedTest.Outcome
  /// The id of its row; `nil` when the control server made no test.
  public let row: Int64?
  /// The control server's identifier of the test.
  public let testUUID: String?
  /// Its figures, as far as it has any.
  public let figures: SpeedTestFigures?
  /// The bytes that it used.
  public let traffic: SpeedTestTraffic
  /// Why it failed or was aborted.
  public let error: String?
  /// Whether the process stood still during the test, as after SIGSTOP.
  let wasSuspended: Bool

  /// One line for an operator.
  public var line: String {
    let figures = figures.flatMap { $0.isComplete ? $0 : nil }
    guard outcome == .completed, let figures else { return "\(outcome.rawValue): \(error ?? "no reason is known")" }
    let (down, up) = (figures.download?.kilobitsPerSecond ?? 0, figures.upload?.kilobitsPerSecond ?? 0)
    let interruption = figures.isInterrupted ? ", interrupted" : ""
    let link = figures.links?.otherName.map { " (\($0))" } ?? ""
    return
      "download \(down) kbit/s, upload \(up) kbit/s, ping \((figures.medianPing ?? 0) / 1000) µs\(interruption)\(link)"
  }
}
