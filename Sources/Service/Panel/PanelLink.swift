/// One link of a running drive, as the panel shows it.
struct PanelLink: Hashable, Sendable {
  /// The link's name; `nil` when there is one link only.
  var name: String?
  /// The radio technology; `nil` when it is unknown.
  var technology: String?
  /// Signal and operator, e.g. `rsrp -91 dBm`; `nil` when no modem reports any.
  var radio: String?
  /// Fences so far, including the open one.
  var fences = 0
  /// The pings of the last second.
  var second = PanelSecond()
  /// The present fence in words; `nil` between fences.
  var fence: String?
  /// Reasons why the drive does not measure at present.
  var warnings: [String] = []

  init() {}
}

/// The pings of one second on one link.
struct PanelSecond: Hashable, Sendable {
  /// Pings with a known result.
  var pings = 0
  /// Of these, the ones that were answered in time.
  var answered = 0
  /// Their mean round-trip time in milliseconds; `nil` without an answer.
  var milliseconds: Double?

  init() {}

  /// Lost pings divided by ``pings``, from 0 to 1; `nil` without pings.
  var loss: Double? { pings > 0 ? Double(max(0, pings - answered)) / Double(pings) : nil }
}
