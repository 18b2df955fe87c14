import Coverage

/// A figure of a speed test that a report summarises. Its values are integers: thousandths of the unit of a report. The raw values are its keys in JSON.
enum SpeedTestQuantity: String, Sendable, CaseIterable {
  /// Figures of the test itself.
  case download, upload, ping
  /// Medians of the coverage pings: before the test, under each load, and the loads less the first (working latency).
  case idleDelay = "idle_delay"
  case downloadDelay = "download_delay"
  case uploadDelay = "upload_delay"
  case downloadIncrease = "download_increase"
  case uploadIncrease = "upload_increase"

  /// Whether it is a data rate, in kbit/s of 1000 bit; else it is a delay, in microseconds. A report shows Mbit/s and ms.
  var isRate: Bool { self == .download || self == .upload }

  /// Whether it is a delay of coverage pings, which are there only with `speedtest.coverage-pings: continue`.
  var isOfCoveragePings: Bool { ![.download, .upload, .ping].contains(self) }

  /// The value of a test; `nil` when the test has none above 0. An increase can be negative.
  func value(of figures: SpeedTestFigures) -> Int64? {
    switch self {
    case .download: Self.rate(figures.download)
    case .upload: Self.rate(figures.upload)
    case .ping: Self.positive(figures.medianPing).map(Self.microseconds)
    case .idleDelay: Self.delay(.idle, of: figures).map(Self.microseconds)
    case .downloadDelay: Self.delay(.download, of: figures).map(Self.microseconds)
    case .uploadDelay: Self.delay(.upload, of: figures).map(Self.microseconds)
    case .downloadIncrease: Self.increase(.download, of: figures)
    case .uploadIncrease: Self.increase(.upload, of: figures)
    }
  }

  /// The test's rate. A rate of a part of the phase would make dead zones look fast: then that of the whole phase.
  private static func rate(_ rate: SpeedTestRate?) -> Int64? {
    positive(rate?.isPartial == true ? rate?.kilobitsOfPhase : rate?.kilobitsPerSecond)
  }

  /// The median delay of one part of the test, in nanoseconds.
  private static func delay(_ part: SpeedTestDelay.Part, of figures: SpeedTestFigures) -> Int64? {
    positive(figures.delays.first { $0.part == part }?.median)
  }

  /// The delay under load less the idle delay, in microseconds; `nil` when either is unknown.
  private static func increase(_ part: SpeedTestDelay.Part, of figures: SpeedTestFigures) -> Int64? {
    guard let idle = delay(.idle, of: figures), let working = delay(part, of: figures) else { return nil }
    return microseconds(working.saturatingSubtracting(idle))
  }

  private static func positive(_ value: Int64?) -> Int64? { value.flatMap { $0 > 0 ? $0 : nil } }

  /// Nanoseconds as microseconds, rounded half away from zero.
  private static func microseconds(_ nanoseconds: Int64) -> Int64 {
    let magnitude = nanoseconds.saturatingMagnitude.saturatingAdding(500) / 1000
    return nanoseconds < 0 ? -magnitude : magnitude
  }
}
