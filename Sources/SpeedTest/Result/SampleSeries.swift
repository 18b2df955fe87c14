import Coverage

/// The curve of one thread in one phase, about one point a millisecond at most, and always the newest point. So memory does not
/// grow with the rate. The implied first point, (0, 0), is not stored.
struct SampleSeries: Hashable, Sendable {
  private(set) var samples: [Sample] = []
  /// ns.
  private static let spacing: Int64 = 1_000_000

  /// Appends a point. Times and bytes only grow: a point that goes back is dropped (edge 27), and so is a first one at or before
  /// 0.
  mutating func append(_ sample: Sample) {
    guard let last = samples.last else {
      if sample.nanoseconds > 0 { samples.append(sample) }
      return
    }
    guard sample.nanoseconds >= last.nanoseconds, sample.bytes >= last.bytes else { return }
    // The newest point is replaced while it is too near to the one before; that one stays.
    let before = samples.count >= 2 ? samples[samples.count - 2].nanoseconds : 0
    if last.nanoseconds - before < Self.spacing || sample.nanoseconds == last.nanoseconds {
      samples[samples.count - 1] = sample
    } else {
      samples.append(sample)
    }
  }
}

/// A point of a thread's curve of one phase: the bytes that were transferred until a time.
public struct Sample: Hashable, Sendable {
  /// ns since the start of the phase: the client's clock for a download, the server's for an upload, never mixed (edge 27).
  public let nanoseconds: Int64
  /// All bytes of the thread in this phase until then, from 0 at its start.
  public let bytes: Int64

  public init(nanoseconds: Int64, bytes: Int64) {
    (self.nanoseconds, self.bytes) = (nanoseconds, bytes)
  }
}

/// Thins out curves for the store and the server: one point each 50 ms, the last one, and the two points around the common end,
/// so that the result can be computed again from the remaining points (docs/protocol.md, 7.6).
enum CurveThinning {
  /// ns.
  static let spacing: Int64 = 50_000_000

  /// - Parameter end: The common end of all threads, ns since the start of the phase (``Throughput/nanoseconds``).
  static func thinned(_ samples: [Sample], around end: Int64) -> [Sample] {
    let after = samples.firstIndex { $0.nanoseconds >= end } ?? samples.endIndex
    var latest = Int64.min
    return samples.enumerated().filter { index, sample in
      let isKept =
        index == samples.count - 1 || index == after || index == after - 1
        || sample.nanoseconds.saturatingSubtracting(latest) >= spacing
      if isKept { latest = sample.nanoseconds }
      return isKept
    }.map(\.element)
  }
}
