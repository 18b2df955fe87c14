/// Collects a thread's curve of one main phase, and passes a point to the display every 100 ms.
struct CurveReport {
  private var series = SampleSeries()
  /// The time of the point that was passed last, ns since the start of the phase.
  private var shown: Int64 = 0
  private let phase: SpeedTestProgress.Phase
  private let thread: Int
  private let progress: @Sendable (SpeedTestProgress) -> Void

  init(
    _ phase: SpeedTestProgress.Phase, thread: Int, progress: @escaping @Sendable (SpeedTestProgress) -> Void
  ) {
    (self.phase, self.thread, self.progress) = (phase, thread, progress)
  }

  var samples: [Sample] { series.samples }

  mutating func append(_ sample: Sample) {
    series.append(sample)
    guard sample.nanoseconds - shown >= 100_000_000 else { return }
    shown = sample.nanoseconds
    progress(SpeedTestProgress(phase: phase, thread: thread, sample: sample))
  }
}
