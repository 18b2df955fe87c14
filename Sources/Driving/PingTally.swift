import Coverage

/// Pings counted over a period.
public struct PingTally: Hashable, Sendable {
  /// Pings with a known result.
  public var pings = 0
  /// Pings answered in time.
  public var answered = 0
  /// Pings that this host could not send; they are not among ``pings``.
  public var unsent = 0
  /// The sum of the round-trip times of ``answered`` pings.
  public var rttSumNanoseconds: Int64 = 0

  /// No pings.
  public init() {}

  /// Counts one ping.
  public mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      unsent = unsent.saturatingAdding(count)
      return
    }
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      answered += 1
      rttSumNanoseconds = rttSumNanoseconds.saturatingAdding(rttNanoseconds)
    }
  }

  /// The mean delay in milliseconds; `nil` without an answer.
  public var meanMilliseconds: Double? { answered > 0 ? Double(rttSumNanoseconds) / Double(answered) / 1e6 : nil }

  /// Mean delay and loss, e.g. `31.7 ms 0 % lost`, and the number of pings that could not be sent if there are any.
  public var line: String { measured + (unsent > 0 ? ", \(counted(unsent, "ping")) not sent" : "") }

  private var measured: String {
    guard pings > 0 else { return "no pings" }
    let mean = meanMilliseconds.map { "\(DecimalText.of($0, places: 1)) ms" } ?? "- ms"
    let loss = Double(pings - answered) / Double(pings) * 100
    return "\(mean) \(DecimalText.of(loss, places: loss > 0 && loss < 10 ? 1 : 0)) % lost"
  }
}
