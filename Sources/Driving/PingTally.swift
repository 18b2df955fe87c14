import Coverage

/// Pings counted over some time.
public struct PingTally: Hashable, Sendable {
  public var pings = 0
  public var answered = 0
  public var rttSumNanoseconds: Int64 = 0

  public init() {}

  public mutating func count(_ outcome: PingOutcome) {
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      answered += 1
      rttSumNanoseconds += rttNanoseconds
    }
  }

  /// Mean and loss, e.g. `31.7 ms 0 % lost`.
  public var line: String {
    guard pings > 0 else { return "no pings" }
    let mean =
      answered > 0 ? "\(DriveStatus.decimal(Double(rttSumNanoseconds) / Double(answered) / 1e6, places: 1)) ms" : "- ms"
    let loss = Double(pings - answered) / Double(pings) * 100
    return "\(mean) \(DriveStatus.decimal(loss, places: loss > 0 && loss < 10 ? 1 : 0)) % lost"
  }
}
