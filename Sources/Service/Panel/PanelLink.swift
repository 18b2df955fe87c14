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
