import Coverage

/// The receivers that gpsd has, as far as it told.
struct Receivers {
  /// More than any gpsd has; so that a server that makes up devices does not fill the memory.
  private static let maximumCount = 64
  /// No receiver is that slow; a longer cycle is nonsense and must not put off the loss.
  private static let longestCycle = 30.0

  /// `nil` until gpsd has told.
  private var devices: [String: GPSDDevice]?

  mutating func replace(with list: [GPSDDevice]) -> [PositioningEvent] {
    let named = list.prefix(Self.maximumCount).filter(\.isActive).map { ($0.path, $0) }
    return change(to: Dictionary(named) { _, later in later })
  }

  mutating func update(_ device: GPSDDevice) -> [PositioningEvent] {
    var changed = devices ?? [:]
    changed[device.path] = device.isActive ? device : nil
    return changed.count <= Self.maximumCount ? change(to: changed) : []
  }

  /// The time between two fixes; zero where it is not known.
  func cycle(of path: String?) -> Duration {
    guard let path, let cycle = devices?[path]?.cycle else { return .zero }
    return .seconds(min(cycle, Self.longestCycle))
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
