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
