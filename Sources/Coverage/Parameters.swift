/// What an operator can set about the cutting of a drive into fences (spec 1.4).
public struct Parameters: Hashable, Sendable {
  /// The least radius of a fence in metres.
  public var minimumRadius: Double = 15
  /// The worst horizontal accuracy, in metres at 68 %, that opens, extends or leaves a fence; inclusive.
  public var accuracyLimit: Double = 15
  /// How long after the start the absence of an accurate fix becomes a warning.
  public var warningAfter: Duration = .seconds(3)
  /// How long after the start a drive gives up that never had an accurate fix.
  public var giveUpAfter: Duration = .seconds(30 * 60)
  /// The longest drive.
  public var maximumDuration: Duration = .seconds(4 * 3600)
  /// A speed above this, in metres a second, counts as unknown: gpsd makes speeds out of jumps. `nil`: every speed counts.
  public var speedLimit: Double? = Parameters.fastestTrain
  /// From ping to ping, as they were sent: those that are further apart than one and a half of it are no neighbours.
  public var pingInterval: Duration = .milliseconds(100)

  /// Metres a second; above the fastest train there has been (603 km/h, 167.5 m/s: JR Central's L0 series, 2015).
  public static let fastestTrain = 170.0

  public init() {}

  /// The radius in metres of a fence that opens at `fix` (spec 1.2).
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
