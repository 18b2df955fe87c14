import Coverage
import Foundation

/// One thread of a test with its connection: all phases, with a barrier between two of them (docs/protocol.md, 7.5).
///
/// All threads call ``meet(_:)`` at the same places. A thread that throws leaves the barrier; the others go on without it.
final class Worker {
  private let index: Int
  private let connector: Connector
  private let barrier: Barrier
  private let record: RunRecord
  private let progress: @Sendable (SpeedTestProgress) -> Void
  /// The start of the test, ns of the clock: the zero of pings and of the starts of phases.
  private let start: Int64
  /// The connection to close after an error.
  private var connection: Connection?
  private var generator = SplitMix64()

  init(
    _ index: Int, connector: Connector, barrier: Barrier, record: RunRecord, start: Int64,
    progress: @escaping @Sendable (SpeedTestProgress) -> Void
  ) {
    (self.index, self.connector, self.barrier, self.record) = (index, connector, barrier, record)
    (self.start, self.progress) = (start, progress)
  }

  private var plan: SpeedTestPlan { connector.plan }
  private var now: Int64 { connector.waiting.clock.now() }

  /// Runs the whole test. Leaves the barrier even after an error, so that no other thread waits.
  func run() {
    do {
      try phases()
    } catch {
      record.note { $0.failures.append(error) }
      connection?.close()
    }
    barrier.leave(index)
  }

  /// - Parameter vote: The vote that all threads receive; only the decision on a slow link needs one.
  private func meet(_ vote: Int64 = 0) throws(SpeedTestError) -> Meeting.Release {
    try barrier.meet(index, vote: vote, by: connector.waiting.deadline)
  }

  private func report(_ phase: SpeedTestProgress.Phase, _ sample: Sample? = nil) {
    progress(SpeedTestProgress(phase: phase, thread: index, sample: sample))
  }

  /// Connects, and runs the phases in their order: pre-test of the download, pings, download, pre-test of the upload, upload.
  /// - Throws: ``SpeedTestError`` that ends this thread's part of the test.
  private func phases() throws(SpeedTestError) {
    report(.connecting)
    var connection = try open()
    self.connection = connection
    record.note {
      $0.serverVersion = connection.conversation.version
      $0.encryption = connection.encryption
      guard $0.serverAddress == nil else { return }
      $0.localAddress = Addresses.Address.filled { getsockname(connection.descriptor, $0, $1) }?.host
      $0.serverAddress = Addresses.Address.filled { getpeername(connection.descriptor, $0, $1) }?.host
    }
    _ = try meet()
    report(.downloadPreTest)
    // Its rate gives the size of chunks of the download, its number of chunks the vote on a slow link.
    let before = try preTest(connection) { batch throws(SpeedTestError) in
      let command = ClientCommand.getChunks(count: batch.count, size: batch.size)
      return try connection.download(command, size: batch.size, report: { _, _ in })
    }
    // Decided once, from all threads' votes, before the ping (edge 22).
    let votes = try meet(before.isSlow ? 1 : 0)
    let isSlow = votes.votes.values.contains(1)
    if isSlow {
      record.note { $0.fellBackToOne = true }
      // The others return here and leave the barrier in `run()`, so this thread does not wait for them in later rounds.
      guard index == votes.leader else { return connection.quit() }
    }
    // One connection pings while the others wait in `download` for the common start.
    if index == votes.leader { try ping(connection) }
    let isIntact = try download(connection, size: before.chunkSize())
    // A download that was cut off leaves chunks in the connection: only a new one can carry the upload (edge 24).
    if !isIntact {
      connection.close()
      connection = try open()
      self.connection = connection
    }
    _ = try meet()
    // Over a satellite a fast link, too, carries few chunks in the time of a pre-test.
    let latency = record.result.pings.map(\.client).min() ?? 0
    if isSlow, before.hasSlowRate(latency: latency) { PlainSocket.limitBacklog(connection.descriptor) }
    report(.uploadPreTest)
    // Its rate gives the size of chunks of the upload, and whether few bytes may wait in the kernel.
    let after = try preTest(connection) { batch throws(SpeedTestError) in
      try connection.beginUpload(.putNoResult(size: batch.size))
      var writer = ChunkWriter(size: batch.size, generator: &generator)
      return try connection.upload(batch: &writer, chunks: batch.count, size: batch.size)
    }
    if after.hasSlowRate(latency: latency) { PlainSocket.limitBacklog(connection.descriptor) }
    try upload(connection, size: after.chunkSize())
    report(.closing)
    connection.quit()
  }

  /// Opens a connection with the token of the test.
  private func open() throws(SpeedTestError) -> Connection {
    try connector.open(until: start + TimeLimits.reconnect)
  }

  /// ns: d = 2 s (docs/protocol.md, 7.5).
  private static let preTestDuration: Int64 = 2_000_000_000

  /// Runs a pre-test.
  /// - Parameter transfer: Transfers a batch, and returns the server's ns; `nil` ends the test.
  private func preTest(
    _ connection: Connection, _ transfer: (PreTest.Batch) throws(SpeedTestError) -> Int64?
  ) throws(SpeedTestError) -> PreTest {
    // Each accepted token brings the line CHUNKSIZE.
    guard let sizes = connection.conversation.sizes else { throw .protocolError("no CHUNKSIZE") }
    var test = PreTest(duration: Self.preTestDuration, sizes: sizes)
    let begin = now
    while let batch = test.next(elapsed: now - begin), let time = try transfer(batch) { test.done(time: time) }
    return test
  }

  /// Sends pings until they are enough. Each one is noted at once, so that those before a failure count.
  private func ping(_ connection: Connection) throws(SpeedTestError) {
    report(.ping)
    let end = PingEnd(least: plan.pings)
    let begin = now
    var pings: [SpeedTestPing] = []
    repeat {
      pings.append(try connection.ping(since: start))
      record.note { $0.pings = pings }
    } while !end.isReached(by: pings.count, elapsed: now - begin)
  }

  /// Measures the download from the common start on.
  /// - Returns: Whether the connection can go on; `false` after a cut-off. The points until then count.
  private func download(_ connection: Connection, size: Int) throws(SpeedTestError) -> Bool {
    let begin = try meet().time
    record.note { $0.downloadBegan = begin - start }
    report(.download)
    var curve = CurveReport(.download, thread: index, progress: progress)
    let end: Result<Int64?, SpeedTestError>
    do {
      end = .success(
        try connection.download(
          .getTime(seconds: Int(plan.duration / 1_000_000_000), size: size), size: size,
          cutOff: begin + plan.duration + TimeLimits.downloadGrace
        ) { time, bytes in curve.append(Sample(nanoseconds: time - begin, bytes: bytes)) })
    } catch {
      end = .failure(error)
    }
    record.note { [samples = curve.samples] in
      if case .success = end { $0.downloadCurves.append(samples) } else { $0.brokenDownloads.append(samples) }
    }
    return try end.get() != nil
  }

  /// Measures the upload. The first barrier makes the threads send PUT together, as the clock of the server begins with each PUT;
  /// the second one is the common start of the bytes. The last one keeps connections open until no thread measures any more.
  private func upload(_ connection: Connection, size: Int) throws(SpeedTestError) {
    _ = try meet()
    try connection.beginUpload(.put(size: size))
    let begin = try meet().time
    record.note { $0.uploadBegan = begin - start }
    report(.upload)
    var curve = CurveReport(.upload, thread: index, progress: progress)
    var writer = ChunkWriter(size: size, generator: &generator)
    do {
      _ = try connection.upload(main: &writer, since: begin, duration: plan.duration) { time, bytes in
        curve.append(Sample(nanoseconds: time, bytes: bytes))
      }
    } catch {
      record.note { [samples = curve.samples] in $0.brokenUploads.append(samples) }
      throw error
    }
    record.note { [samples = curve.samples] in $0.uploadCurves.append(samples) }
    _ = try meet()
  }
}

/// Collects a thread's curve of one main phase, and passes a point to the display every 100 ms.
struct CurveReport {
  private var series = SampleSeries()
  /// The time of the point that was passed last, ns since the start of the phase.
  private var shown: Int64 = 0
  private let phase: SpeedTestProgress.Phase
  private let thread: Int
  private let progress: @Sendable (SpeedTestProgress) -> Void

  init(
    _ phase: SpeedTestProgress.Phase, thread: Int, progress: @escaping @Sendable (SpeedTestProgress) -> Void
  ) {
    (self.phase, self.thread, self.progress) = (phase, thread, progress)
  }

  var samples: [Sample] { series.samples }

  mutating func append(_ sample: Sample) {
    series.append(sample)
    guard sample.nanoseconds - shown >= 100_000_000 else { return }
    shown = sample.nanoseconds
    progress(SpeedTestProgress(phase: phase, thread: thread, sample: sample))
  }
}
