/// One link of a running drive, as the panel shows it.
public struct PanelLink: Hashable, Sendable {
  /// The link's name; `nil` when there is one link only.
  public var name: String?
  /// The radio technology; `nil` when it is unknown.
  public var technology: String?
  /// Signal and operator, e.g. `rsrp -91 dBm`; `nil` when no modem reports any.
  public var radio: String?
  /// Fences so far, including the open one.
  public var fences = 0
  /// The pings of the last second.
  public var second = PanelSecond()
  /// The present fence in words; `nil` between fences.
  public var fence: String?
  /// Reasons why the drive does not measure at present.
  public var warnings: [String] = []

  /// A link of which nothing is known.
  public init() {}
}

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
