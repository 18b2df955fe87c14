/// The result of one direction of a speed test.
public struct SpeedTestRate: Hashable, Sendable, Codable {
  /// kbit/s (1000 bit), rounded.
  public let kilobitsPerSecond: Int64
  /// Bytes of all connections at the common end.
  public let bytes: Int64
  /// The common end, ns since the start of the phase.
  public let nanoseconds: Int64
  /// The start of the phase, ns since the start of the test.
  public let began: Int64
  /// The connections that took part.
  public let connections: Int
  /// Each connection's curve: pairs of ns since the start of the phase and all bytes until then. Thinned out, but not around the common
  /// end, so that the result follows from it.
  public let curves: [[[Int64]]]
  /// ns that the phase was to last; `nil` of a test of an earlier build.
  public let planned: Int64?
  /// The longest time of the planned phase in which no connection had a byte, ns; `nil` of a test of an earlier build.
  public let silence: Int64?

  /// A result with the given values.
  public init(
    kilobitsPerSecond: Int64, bytes: Int64, nanoseconds: Int64, began: Int64, connections: Int, curves: [[[Int64]]],
    planned: Int64? = nil, silence: Int64? = nil
  ) {
    (self.kilobitsPerSecond, self.bytes, self.nanoseconds) = (kilobitsPerSecond, bytes, nanoseconds)
    (self.began, self.connections, self.curves) = (began, connections, curves)
    (self.planned, self.silence) = (planned, silence)
  }
}

/// What the rate does not say: it is one of the time until the common end, which a connection without an answer ends early.
extension SpeedTestRate {
  /// Below this share, the rate is one of a part of the phase. An upload may end a seventh before its time (docs/protocol.md, 7.5).
  static let leastShare = 0.85
  /// ns; a silence of this length or longer is an interruption, and no pause between two packets of a slow link.
  static let longSilence: Int64 = 2_000_000_000

  /// The share of the planned phase that the rate is of, 0 to 1; `nil` when it is not known.
  public var measuredShare: Double? {
    planned.flatMap { $0 > 0 ? min(max(Double(nanoseconds) / Double($0), 0), 1) : nil }
  }

  /// Whether the rate is one of a part of the phase only.
  public var isPartial: Bool { measuredShare.map { $0 < Self.leastShare } ?? false }

  /// Whether the phase was interrupted: the rate is of a part of it, or there was a long silence.
  public var isInterrupted: Bool { isPartial || (silence ?? 0) >= Self.longSilence }

  /// kbit/s over the whole phase: the bytes of all connections until its end. For a phase of which a part was measured only, ``kilobitsPerSecond``
  /// is too high.
  public var kilobitsOfPhase: Int64 {
    let ends = curves.compactMap(\.last).filter { $0.count == 2 && $0[0] >= 0 && $0[1] >= 0 }
    let length = max(planned ?? 0, nanoseconds, ends.map { $0[0] }.max() ?? 0, 1)
    let sum = ends.reduce(0.0) { $0 + Double($1[1]) }
    return Int64(saturating: (8e6 * sum / Double(length)).rounded()) ?? 0
  }
}
