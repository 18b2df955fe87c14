import Coverage
import Driving

extension PanelState {
  /// The state of a drive in this process.
  public init(_ links: [DriveStatus]) {
    guard let first = links.first else { return }
    elapsed = DriveStatus.clock(first.elapsed)
    position = first.position
    self.links = links.map(PanelLink.init)
    if let trouble = links.compactMap(\.diskTrouble).first {
      let unsaved = links.reduce(0) { $0.saturatingAdding($1.unsavedFences) }
      warnings.append("disk: \(trouble); \(counted(unsaved, "fence")) in memory only")
    }
  }
}

extension PanelLink {
  init(_ status: DriveStatus) {
    (name, fences, warnings) = (status.link, status.fences, status.warnings)
    technology = status.technology?.name
    radio = status.radio?.modem.flatMap(Self.words)
    (second.pings, second.answered) = (status.lastSecond.pings, status.lastSecond.answered)
    second.milliseconds = status.lastSecond.meanMilliseconds
    fence = status.openFence.map(Self.words)
  }

  private static func words(_ modem: ModemReading) -> String? {
    words(signal: { modem.signal[$0] }, operatorName: modem.operatorName)
  }

  /// The level that operators name, of the newest technology first.
  static func words(signal: (SignalQuantity) -> Double?, operatorName: String?) -> String? {
    let level = [SignalQuantity.nrRSRP, .rsrp, .rscp, .rssi].compactMap { quantity in
      signal(quantity).map { "\(quantity.rawValue) \(DecimalText.of($0, places: 0)) dBm" }
    }.first
    let parts = [level, operatorName].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  private static func words(_ fence: Fence) -> String {
    func milliseconds(_ nanoseconds: Int64?) -> Double? { nanoseconds.map { Double($0) / 1e6 } }
    return words(
      radius: fence.radius, pings: fence.pings, answered: fence.pingsAnswered,
      median: milliseconds(fence.figures.roundTrip?.median),
      percentile95: milliseconds(fence.percentile95))
  }

  /// The present fence in words; delays in milliseconds.
  static func words(radius: Double?, pings: Int, answered: Int, median: Double?, percentile95: Double?) -> String {
    let parts = [
      radius.map { "\(DecimalText.of($0, places: 0)) m" }, counted(pings, "ping"),
      "\(max(0, pings.saturatingSubtracting(answered))) lost",
      median.map { "median \(DecimalText.of($0, places: 1)) ms" },
      percentile95.map { "95 % \(DecimalText.of($0, places: 1)) ms" },
    ]
    return "this fence: " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}
