import Coverage
import Store
import Submission

/// How speed tests are made.
public struct TestOptions: Hashable, Sendable {
  /// Also of the request; without an IP version, the test has that of the request.
  public var access = TestAccess()
  /// Whether the QoS tests of the control server follow the test.
  public var runsQoS = false
  /// Whether QoS servers are reached by TLS.
  public var qosEncryption = QoSEncryption.auto

  public init() {}
}

public struct TestEnd: Sendable {
  public let outcome: StoredSpeedTest.Outcome
  /// The id of its row; `nil` when the control server made no test, and when the disk refused it.
  public internal(set) var row: Int64?
  /// The control server's identifier of the test.
  public internal(set) var testUUID: String?
  /// Its figures, as far as it has any.
  public internal(set) var figures: SpeedTestFigures?
  /// The bytes that it used.
  public let traffic: SpeedTestTraffic
  /// Why it failed or was aborted.
  public let error: String?
  /// Why connections dropped out, in their order.
  public internal(set) var failures: [String] = []
  /// Whether the process stood still during the test, as after SIGSTOP.
  var wasSuspended = false

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

/// The coverage drive beside a speed test: it pauses or marks its pings.
public protocol TestObserver: Sendable {
  /// The measurement begins, or QoS tests do, which come after the delays.
  func testBegan()
  /// The test loads the link in this part; `nil`: it does not load it now. A part begins with its pre-test, and again with its main phase.
  func test(loads part: SpeedTestDelay.Part?)
  /// What began has ended.
  func testEnded()
  /// The delays of the coverage pings without load and under it, when the measurement has ended.
  func delays() async -> [SpeedTestDelay]
}

/// The clocks that a loop depends on. Tests replace them.
public struct LoopHost: Sendable {
  let bootID: String
  let moment: @Sendable () -> LoopMoment
  let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - bootID: The kernel's random id of this boot.
  ///   - sleep: Suspends for a duration of CLOCK_BOOTTIME; throws `CancellationError` when its task is cancelled.
  public init(
    bootID: String, sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    moment: @escaping @Sendable () -> LoopMoment
  ) {
    (self.bootID, self.sleep, self.moment) = (bootID, sleep, moment)
  }
}
