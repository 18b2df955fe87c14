import Coverage

/// The receivers that gpsd has, as far as it said, and what is remembered of each from report to report.
struct Receivers {
  /// More than any gpsd has; so that a server that makes up devices does not fill the memory.
  private static let maximumCount = 64
  /// Seconds. No receiver is slower; a longer cycle is nonsense and must not put off the loss.
  private static let longestCycle = 10.0

  /// What one receiver said of its errors and of the time.
  struct Memory {
    var errors = ErrorMemory()
    var pace = ReceiverPace()
  }

  /// `nil` until gpsd has said.
  private var devices: [String: GPSDDevice]?
  private var memories: [String?: Memory] = [:]

  mutating func replace(with list: [GPSDDevice]) -> [PositioningEvent] {
    let named = list.prefix(Self.maximumCount).filter(\.isActive).map { ($0.path, withDriver($0)) }
    return change(to: Dictionary(named) { _, later in later })
  }

  mutating func update(_ device: GPSDDevice) -> [PositioningEvent] {
    var changed = devices ?? [:]
    changed[device.path] = device.isActive ? withDriver(device) : nil
    return changed.count <= Self.maximumCount ? change(to: changed) : []
  }

  /// gpsd names the driver once it knows it, not in each report.
  private func withDriver(_ device: GPSDDevice) -> GPSDDevice {
    guard device.driver == nil, let known = devices?[device.path]?.driver else { return device }
    return GPSDDevice(path: device.path, isActive: device.isActive, cycle: device.cycle, driver: known)
  }

  /// The time between two fixes; zero where it is not known, or is nonsense.
  func cycle(of path: String?) -> Duration {
    guard let path, let cycle = devices?[path]?.cycle, cycle <= Self.longestCycle else { return .zero }
    return .seconds(cycle)
  }

  /// Changes what is remembered of a receiver. Of receivers beyond ``maximumCount`` nothing is.
  @discardableResult
  mutating func update<Result>(_ device: String?, _ change: (inout Memory) -> Result) -> Result {
    var memory = memories[device] ?? Memory()
    defer { if memories[device] != nil || memories.count < Self.maximumCount { memories[device] = memory } }
    return change(&memory)
  }

  func errorFigures(of report: TPV, at now: ContinuousClock.Instant) -> ErrorFigures {
    let driver = report.device.flatMap { devices?[$0]?.driver }
    return (memories[report.device] ?? Memory()).errors.figures(of: report, driver: driver, at: now)
  }

  private mutating func change(to changed: [String: GPSDDevice]) -> [PositioningEvent] {
    let isSame = devices.map { Set($0.keys) == Set(changed.keys) } ?? false
    devices = changed
    return isSame ? [] : [.status(.devices(changed.keys.sorted()))]
  }
}

/// Says once for each change that the receiver's time is not the host's; nothing is ever set by it (spec/gpsd.md 4).
struct ClockWatch {
  /// Differences up to here are delays on the way.
  private static let tolerance = Duration.seconds(2)

  private var told: Duration?

  /// A difference that only drifts, by half of what was told, is no change; nor is one that comes and goes about the tolerance.
  mutating func note(_ difference: Duration?) -> [PositioningEvent] {
    guard let difference else { return [] }
    let limit = told == nil ? Self.tolerance : Self.tolerance / 2
    let current = Self.abs(difference) > limit ? difference : nil
    switch (told, current) {
    case (nil, nil): return []
    case (let told?, let current?) where Self.abs(current - told) <= max(Self.tolerance, Self.abs(told) / 2): return []
    default:
      told = current
      return [.status(.clockDifference(current))]
    }
  }

  /// Whether the difference is more than the way from the receiver explains.
  static func isOff(_ difference: Duration?) -> Bool { difference.map { abs($0) > tolerance } ?? false }

  private static func abs(_ duration: Duration) -> Duration {
    duration < .zero ? .zero - duration : duration
  }
}
