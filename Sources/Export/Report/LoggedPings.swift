import Coverage

/// The single pings of a drive log with their places, as the engine counts them: the log is replayed, so that store, replay and report
/// agree to the ping.
struct LoggedPings {
  /// A ping with an outcome: 24 bytes.
  struct Ping {
    let at: DriveTime
    /// The delay; -1 without an answer.
    private let value: Int64
    /// The index of its fence; -1 outside of all, -2 on Wi-Fi.
    private let place: Int32
    let isKernelStamped: Bool

    init(_ ping: PlacedPing) {
      at = ping.sent
      place =
        switch ping.place {
        case .fence(let index): Int32(clamping: index)
        case .outside: -1
        case .paused: -2
        }
      if case .answered(let delay, let isStamped) = ping.outcome {
        (value, isKernelStamped) = (max(0, delay), isStamped)
      } else {
        (value, isKernelStamped) = (-1, false)
      }
    }

    /// `nil` for a ping without an answer.
    var nanoseconds: Int64? { value >= 0 ? value : nil }
    /// The index of its fence in ``LoggedPings/fences``; `nil` outside of all.
    var fence: Int? { place >= 0 ? Int(place) : nil }
    var isPaused: Bool { place == -2 }
  }

  /// After ``end()`` in the order of sending.
  private(set) var pings: [Ping] = []
  private var engine: Engine
  private var undrained = 0

  /// No events of a log yet.
  init(parameters: Parameters, initialPath: Path) {
    engine = Engine(parameters: parameters, path: initialPath, keepsPings: true)
  }

  /// The fences of the whole drive, as the replay cuts them.
  var fences: [Fence] { engine.fences }

  /// The next event of the log.
  mutating func handle(_ event: Event) {
    _ = engine.handle(event)
    undrained += 1
    if undrained >= 4096 { drain() }
  }

  /// The log has ended.
  mutating func end() {
    _ = engine.handle(Event(at: engine.now, .stop(.endOfLog)))
    drain()
    // The log has outcomes in the order in which they came; losses come late.
    pings.sort { $0.at < $1.at }
  }

  private mutating func drain() {
    undrained = 0
    pings += engine.drainPlacedPings().map(Ping.init)
  }
}
