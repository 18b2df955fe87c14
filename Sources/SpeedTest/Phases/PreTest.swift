/// The batches of a pre-test on one thread, download or upload: 1, 2, 4, 8 chunks, then 8 chunks of double size each time, until
/// its time has passed (docs/protocol.md, 7.5, step 2). The number never grows beyond 8, so GETCHUNKS stays in its range (edge 14).
struct PreTest: Sendable {
  /// The chunks of one command, and the bytes of each.
  struct Batch: Hashable, Sendable {
    let count: Int
    let size: Int
  }

  private let duration: Int64
  private let sizes: ChunkSizes
  private var upcoming: Batch
  /// The server's ns for the first batch: one tiny chunk, so mostly latency.
  private var firstTime: Int64?
  /// Chunks of all finished batches.
  private(set) var chunks = 0
  /// Bytes a second of the last batch. It can be wrong by a factor: it serves to choose the size of chunks, and is never a
  /// result.
  private(set) var rate: Double?
  /// The bytes of the last batch, and its ns.
  private var last: (bytes: Double, time: Int64)?

  /// - Parameter duration: ns after which no batch begins.
  init(duration: Int64, sizes: ChunkSizes) {
    (self.duration, self.sizes) = (duration, sizes)
    upcoming = Batch(count: 1, size: sizes.clamped(ChunkSizes.protocolRange.lowerBound))
  }

  /// The next batch; `nil` when the time has passed. A batch under way is finished.
  /// - Parameter elapsed: ns since the start of the pre-test.
  func next(elapsed: Int64) -> Batch? { elapsed < duration ? upcoming : nil }

  /// The batch that ``next(elapsed:)`` named is done.
  /// - Parameter time: The ns of the server in its TIME line.
  mutating func done(time: Int64) {
    let batch = upcoming
    chunks += batch.count
    let bytes = Double(batch.count) * Double(batch.size)
    last = (bytes, time)
    // Without the time of the first, tiny batch, which is latency. When that leaves nothing, the whole time.
    let net = time - (firstTime ?? 0)
    let span = net > 0 ? net : time
    if span > 0 { rate = bytes / (Double(span) / 1e9) }
    firstTime = firstTime ?? time
    upcoming =
      batch.count < 8
      ? Batch(count: batch.count * 2, size: batch.size) : Batch(count: 8, size: sizes.clamped(batch.size * 2))
  }

  /// No more than four chunks: only the batches of 1 and 2 were finished. One connection is enough for this link.
  var isSlow: Bool { chunks <= 4 }

  /// Less than 1 Mbit/s on this connection: the kernel must hold few unsent bytes (edge 25).
  /// - Parameter latency: ns of a round trip, which is in each batch: over a satellite, nearly all of it.
  func hasSlowRate(latency: Int64) -> Bool {
    guard let last else { return true }
    return last.bytes < 125_000 * Double(last.time - latency) / 1e9
  }

  /// The size for the main phase: the bytes that the link carries in 20 ms, in whole KiB. Without a rate, the server's default.
  /// - Parameter cap: The most bytes; larger chunks gain nothing.
  func chunkSize(cap: Int = 524_288) -> Int {
    guard let rate else { return sizes.clamped(sizes.standard) }
    return sizes.clamped(Int(min(rate / 50 / 1024, Double(cap / 1024)).rounded()) * 1024)
  }
}

/// A fresh connection that ends before the greeting is opened again up to four times, after 0.1, 0.2, 0.3 and 0.4 s (docs/protocol.md, edge
/// 5: the C server closes some connections by mistake).
struct OpeningRetry: Sendable {
  private var left = 4

  /// ns to wait before the next attempt; `nil`: give up.
  /// - Parameter mayRetry: Whether the connection was still fresh (``Conversation/mayRetry``).
  mutating func wait(after error: SpeedTestError, mayRetry: Bool) -> Int64? {
    guard mayRetry, error == .closed, left > 0 else { return nil }
    left -= 1
    return 100_000_000 * Int64(4 - left)
  }
}
