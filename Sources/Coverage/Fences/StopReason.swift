/// Why a drive ended. The raw values appear in drive logs, in the store and in `replay`'s summary.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// The operator stopped it.
  case user
  /// It reached the longest duration that the operator or the server allows.
  case duration
  /// It had no accurate fix within ``Parameters/giveUpAfter`` from the start.
  case insufficientAccuracy = "insufficient-accuracy"
  /// A replayed log ended without a stop.
  case endOfLog = "end-of-log"
}
