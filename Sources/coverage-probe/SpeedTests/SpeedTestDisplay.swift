import SpeedTest
import Synchronization

/// The live line of a speed test: the phase, the rate now and its curve.
struct SpeedTestDisplay {
  private var phase: SpeedTestProgress.Phase?
  /// The newest point of each thread in this phase.
  private var latest: [Int: Sample] = [:]
  /// bit/s of each thread between its last two points.
  private var rates: [Int: Double] = [:]
  /// bit/s of all threads together, oldest first.
  private var curve: [Double] = []
  private static let longestCurve = 30
  private static let steps = Array("▁▂▃▄▅▆▇█")

  /// Applies a report.
  /// - Returns: Whether a phase began that is later than those before. Threads reach a phase at different times.
  mutating func apply(_ progress: SpeedTestProgress) -> Bool {
    let phases = SpeedTestProgress.Phase.allCases
    let order = phases.firstIndex(of: progress.phase) ?? 0
    let current = phase.flatMap { phases.firstIndex(of: $0) } ?? -1
    guard order >= current else { return false }
    if order > current {
      self = SpeedTestDisplay()
      phase = progress.phase
    }
    if let sample = progress.sample { add(sample, of: progress.thread) }
    return order > current
  }

  private mutating func add(_ sample: Sample, of thread: Int) {
    let before = latest[thread] ?? Sample(nanoseconds: 0, bytes: 0)
    let span = Double(sample.nanoseconds) - Double(before.nanoseconds)
    guard span > 0 else { return }
    rates[thread] = 8e9 * (Double(sample.bytes) - Double(before.bytes)) / span
    latest[thread] = sample
    // A point of the curve for each report of one thread: all threads report at the same pace.
    guard thread == latest.keys.min() else { return }
    curve.append(rate)
    if curve.count > Self.longestCurve { curve.removeFirst() }
  }

  /// bit/s of all threads together now.
  private var rate: Double { rates.values.reduce(0, +) }

  var line: String {
    guard let phase else { return "" }
    guard !curve.isEmpty else { return Self.name(phase) }
    let most = max(curve.max() ?? 1, 1)
    let spark = curve.map { Self.steps[min(max(Int($0 / most * 7.99), 0), 7)] }
    return "\(Self.name(phase))  \(SpeedTestReport.rate(Int64(min(rate / 1000, 1e15))))  \(String(spark))"
  }

  static func name(_ phase: SpeedTestProgress.Phase) -> String {
    switch phase {
    case .connecting: "connecting"
    case .downloadPreTest: "download pre-test"
    case .ping: "ping"
    case .download: "download"
    case .uploadPreTest: "upload pre-test"
    case .upload: "upload"
    case .closing: "closing"
    }
  }
}

/// Reports the news of a loop to an operator.
enum LoopDisplay {
  /// One line for the process, because it has one terminal and runs one test at a time.
  private static let display = Mutex(SpeedTestDisplay())

  static func report(
    _ news: LoopNews, of count: Int, show: (@Sendable (String) -> Void)?, print: @Sendable (String) -> Void
  ) {
    switch news {
    case .testBegan(let number):
      display.withLock { $0 = SpeedTestDisplay() }
      show?("test \(number) of \(count)")
    case .progress(let number, let progress):
      guard let show else { return }
      let line = display.withLock {
        _ = $0.apply(progress)
        return $0.line
      }
      show("test \(number) of \(count)  \(line)")
    case .testEnded(let number, let end):
      show?("")
      print("test \(number) of \(count): \(end.line)")
    // The log has it, which is on the terminal too.
    case .notice: break
    case .ended(let end): print("the loop is over: \(end.words)")
    }
  }
}
