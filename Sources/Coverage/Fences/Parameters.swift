/// The operator's settings of the fence algorithm (docs/configuration.md).
public struct Parameters: Hashable, Sendable {
  /// The smallest radius of a fence in metres.
  public var minimumRadius: Double = 15
  /// The worst horizontal accuracy, in metres at 68 %, that opens, extends or leaves a fence; inclusive.
  public var accuracyLimit: Double = 15
  /// How long after the start the absence of an accurate fix becomes a warning.
  public var warningAfter: Duration = .seconds(3)
  /// How long after the start a drive ends that has had no accurate fix.
  public var giveUpAfter: Duration = .seconds(30 * 60)
  /// The longest duration of a drive.
  public var maximumDuration: Duration = .seconds(4 * 3600)
  /// A speed above this, in metres a second, counts as unknown: gpsd derives speeds from jumps of the position. `nil`: no limit.
  public var speedLimit: Double? = Parameters.fastestTrain
  /// The interval at which pings are sent. Delay variation is measured between two pings that were sent at most 1.5 intervals apart.
  public var pingInterval: Duration = .milliseconds(100)

  /// Metres a second; above the fastest train on record (603 km/h, 167.5 m/s: JR Central's L0 series, 2015).
  public static let fastestTrain = 170.0

  /// The defaults.
  public init() {}

  /// The radius in metres of a fence that opens at `fix` (docs/algorithm.md, 2).
  public func radius(of fix: Fix) -> Double {
    max(minimumRadius, 10 + 2 * (fix.accuracy ?? 0), possible(fix.speed) ?? 0)
  }

  private func possible(_ speed: Double?) -> Double? {
    guard let speed, speed <= speedLimit ?? .infinity else { return nil }
    return speed
  }

  /// Whether `fix` may open, extend or leave a fence.
  public func accepts(_ fix: Fix) -> Bool {
    guard fix.coordinate != nil, let accuracy = fix.accuracy else { return false }
    return accuracy <= accuracyLimit
  }
}
