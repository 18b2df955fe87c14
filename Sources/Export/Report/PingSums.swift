import Coverage

/// Sums of the pings of fences, from which loss (RFC 2680) and mean delay (RFC 2681) follow. They saturate.
public struct PingSums: Hashable, Sendable {
  /// Those that were sent and have an outcome.
  public private(set) var pings = 0
  /// Those that were answered in time.
  public private(set) var answered = 0
  /// Those that were answered too late.
  public private(set) var late = 0
  /// Second and further answers.
  public private(set) var duplicates = 0
  /// The sum of the delays of ``answered``, in nanoseconds; saturates.
  public private(set) var nanoseconds: Int64 = 0

  /// No pings.
  public init() {}

  /// Adds the pings of a fence.
  public mutating func add(_ fence: Fence) {
    pings = pings.saturatingAdding(fence.pings)
    answered = answered.saturatingAdding(fence.pingsAnswered)
    late = late.saturatingAdding(fence.figures.late)
    duplicates = duplicates.saturatingAdding(fence.figures.duplicates)
    nanoseconds = nanoseconds.saturatingAdding(fence.rttSumNanoseconds)
  }

  /// The mean delay of the answered pings in microseconds, rounded; `nil` when none was answered.
  var meanMicroseconds: Int64? {
    answered > 0 ? Int64(exactly: (Double(nanoseconds) / Double(answered) / 1000).rounded()) : nil
  }

  /// Those without an answer in time.
  var lost: Int { pings.saturatingSubtracting(answered) }

  /// The share of ``lost``, 0 to 1; `nil` without pings.
  public var loss: Double? { pings > 0 ? Double(lost) / Double(pings) : nil }
}
