/// The pings of one second on one link.
public struct PanelSecond: Hashable, Sendable {
  /// Pings with a known result.
  public var pings = 0
  /// Of these, the ones that were answered in time.
  public var answered = 0
  /// Their mean round-trip time in milliseconds; `nil` without an answer.
  public var milliseconds: Double?

  /// No pings.
  public init() {}

  /// Lost pings divided by ``pings``, from 0 to 1; `nil` without pings.
  var loss: Double? { pings > 0 ? Double(max(0, pings - answered)) / Double(pings) : nil }
}
