import Coverage
import Foundation

/// One connection to the measurement server: waits with limits, lines and chunks. ``Conversation`` decides which line or command
/// may come next; this class carries its decisions out. Used by one thread.
///
/// After an error the connection can only be closed.
final class Connection {
  private let transport: any Transport
  private let clock: TestClock
  private let waiting: Waiting
  private var lines = LineBuffer()
  private(set) var conversation = Conversation()
  /// One read takes at most these 256 KiB; each read of a download makes at most one point of a curve.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 64)

  init(_ transport: any Transport, waiting: Waiting) {
    (self.transport, self.waiting, clock) = (transport, waiting, waiting.clock)
  }

  var encryption: String? { transport.encryption }
  var descriptor: Int32 { transport.descriptor }

  func close() { transport.close() }

  deinit {
    transport.close()
    buffer.deallocate()
  }

  /// Waits for an event of poll; returns at once when TLS holds decrypted bytes. False: not until `time`.
  private func wait(for events: Int16, until time: Int64) throws(SpeedTestError) -> Bool {
    if events & Int16(POLLIN) != 0, transport.hasBuffered {
      try waiting.check()
      return true
    }
    return try waiting.wait(on: transport.descriptor, for: events, until: time)
  }

  // MARK: Lines

  /// Moves bytes that are there from the stream to `lines`. 0: nothing now.
  /// - Throws: At the end of the stream, the error that an end means at this stage.
  private func readSome() throws(SpeedTestError) -> Int {
    do {
      let count = try transport.read(into: buffer)
      lines.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      return count
    } catch .closed {
      throw conversation.meaningOfEnd ?? .closed
    }
  }

  /// The head of the answer to the HTTP upgrade.
  func readHead() throws(SpeedTestError) -> [String] {
    let limit = clock.now() + TimeLimits.read
    while true {
      if let head = try lines.head() { return head }
      if try readSome() == 0, try !wait(for: Int16(POLLIN), until: limit) {
        throw .timeout("the answer to the upgrade")
      }
    }
  }

  /// The next line, after the conversation has applied it. `nil`: none until `limit`.
  /// - Throws: ``SpeedTestError/commandRefused(_:)`` for ERR.
  private func line(until limit: Int64) throws(SpeedTestError) -> ServerLine? {
    while true {
      if conversation.stage == .greeting { lines.skipBlanks() }
      if let text = try lines.next() {
        let line = try ServerLine(text)
        let before = conversation.stage
        try conversation.read(line)
        if line == .err { throw .commandRefused(before.command) }
        return line
      }
      // A flood of lines never gets to a wait.
      try waiting.check()
      if try readSome() == 0, try !wait(for: Int16(POLLIN), until: limit) { return nil }
    }
  }

  /// - Parameter limit: ns that the line may take.
  /// - Throws: ``SpeedTestError/timeout(_:)`` after that.
  private func nextLine(within limit: Int64 = TimeLimits.read) throws(SpeedTestError) -> ServerLine {
    guard let line = try line(until: clock.now() + limit) else { throw .timeout("the server is silent") }
    return line
  }

  /// Reads lines until the server takes the next command.
  /// - Parameter isFirst: Whether the answer to TOKEN is outstanding. The server may delay it until the start time of the token
  ///   (edge 7).
  func readUntilReady(isFirst: Bool = false) throws(SpeedTestError) {
    while true {
      if case .mayCommand = conversation.stage { return }
      _ = try nextLine(within: isFirst ? TimeLimits.token : TimeLimits.read)
    }
  }

  /// Sends bytes, in one write if the stream takes them all (edge 2).
  /// - Throws: ``SpeedTestError/timeout(_:)`` when not all are taken within 30 s.
  func send(_ bytes: [UInt8]) throws(SpeedTestError) {
    let limit = clock.now() + TimeLimits.read
    var sent = 0
    while sent < bytes.count {
      let count = try transport.write(bytes, from: sent)
      sent += count
      if count == 0, try !wait(for: Int16(POLLOUT), until: limit) { throw .timeout("the server takes no bytes") }
    }
  }

  /// Writes a command. Bytes that were read before it are no answer to it: they break the protocol.
  func command(_ command: ClientCommand) throws(SpeedTestError) {
    guard lines.isEmpty else { throw .protocolError("bytes behind ACCEPT") }
    try send(try conversation.write(command))
  }

  /// Sends QUIT, waits up to 1 s for BYE, and closes in any case.
  func quit() {
    do {
      if conversation.isReady {
        try command(.quit)
        _ = try line(until: clock.now() + 1_000_000_000)
      }
    } catch {
      // The result is complete; an end without BYE is usual (edge 32).
    }
    close()
  }

  // MARK: Commands

  /// One ping. The round trip of the client ends when PONG is read; OK is sent after that (edge 23).
  /// - Parameter start: The start of the test, ns of the clock.
  func ping(since start: Int64) throws(SpeedTestError) -> SpeedTestPing {
    let before = clock.now()
    try command(.ping)
    _ = try nextLine()
    let after = clock.now()
    try send(try conversation.acknowledge())
    guard case .time(let server, _) = try nextLine() else { throw .protocolError("no time of a ping") }
    try readUntilReady()
    return SpeedTestPing(client: after - before, server: server, offset: before - start)
  }

  /// Reads chunks until the last one, and acknowledges it.
  /// - Parameters:
  ///   - size: Bytes of a chunk, the same as in the command.
  ///   - cutOff: ns of the clock after which reading stops. `nil`: only 30 s of silence end it, with an error.
  ///   - report: Called after each read with the time of the clock and all bytes until then.
  /// - Returns: The server's ns. `nil`: cut off; the server still sends, so the connection can only be closed.
  func download(
    _ command: ClientCommand, size: Int, cutOff: Int64? = nil, report: (Int64, Int64) throws(SpeedTestError) -> Void
  ) throws(SpeedTestError) -> Int64? {
    try self.command(command)
    var reader = ChunkReader(size: size)
    while !reader.hasEnded {
      let count = try transport.read(into: buffer)
      if count > 0 {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        // A refusal of the command comes in place of the chunks.
        if reader.bytes == 0, count < 512, bytes.starts(with: Array("ERR\n".utf8)) {
          throw .commandRefused(command.word)
        }
        try reader.read(bytes)
        try report(clock.now(), reader.bytes)
        // Call `wait` after a full buffer too: it checks for an abort, and the cut-off follows.
        if reader.hasEnded { continue }
      }
      let now = clock.now()
      guard try wait(for: Int16(POLLIN), until: min(cutOff ?? .max, now + TimeLimits.read)) else {
        if cutOff == nil { throw .timeout("the server sends nothing") }
        return nil
      }
      if let cutOff, now >= cutOff { return nil }
    }
    try conversation.chunksEnded()
    try send(try conversation.acknowledge())
    guard case .time(let server, _) = try nextLine() else { throw .protocolError("no time of a download") }
    try readUntilReady()
    return server
  }

  /// Asks for an upload, and waits for the server's OK before the first byte (edge 10). The time of the server begins with that
  /// OK.
  func beginUpload(_ command: ClientCommand) throws(SpeedTestError) {
    try self.command(command)
    _ = try nextLine()
  }

  /// Sends a batch of the pre-test after ``beginUpload(_:)``. The server's time comes only when it has all of it (edge 19).
  /// - Parameters:
  ///   - writer: A fresh writer of chunks of `size`.
  ///   - chunks: The number of chunks, at least 1.
  /// - Returns: The server's ns from its OK to the last byte.
  func upload(batch writer: inout ChunkWriter, chunks: Int, size: Int) throws(SpeedTestError) -> Int64 {
    // The chunk that begins at this byte is the last one.
    let lastStart = Int64(chunks - 1) * Int64(size)
    while !writer.hasEnded {
      let sent = try writer.write(isTimeUp: writer.bytes >= lastStart, limit: 262_144) {
        bytes throws(SpeedTestError) in try transport.write(bytes)
      }
      if sent == 0, try !wait(for: Int16(POLLOUT), until: clock.now() + TimeLimits.read) {
        throw .timeout("the server takes no bytes")
      }
    }
    try conversation.chunksEnded()
    guard case .time(let server, _) = try nextLine() else { throw .protocolError("no time of an upload") }
    try readUntilReady()
    return server
  }

  /// ns between two reads of the server's reports while bytes flow. Each read makes the kernel send a packet that only
  /// acknowledges: with a read for each report, these packets take 1 % of a slow uplink.
  private static let reportInterval: Int64 = 100_000_000
  /// Under a flood of reports, neither the end of the phase nor that of the upload must be missed.
  private static let reportsAtATime = 1000

  /// The main upload after ``beginUpload(_:)``: writes and reads reports side by side (edge 17). ``UploadEnd`` decides when it
  /// ends.
  /// - Parameters:
  ///   - start: The common start of the phase, ns of the clock.
  ///   - duration: ns after which the next chunk is the last one.
  ///   - report: Called for each report with the server's ns and the bytes that it has received.
  /// - Returns: Whether the server's last time came; else the connection can only be closed.
  func upload(
    main writer: inout ChunkWriter, since start: Int64, duration: Int64,
    report: (Int64, Int64) throws(SpeedTestError) -> Void
  ) throws(SpeedTestError) -> Bool {
    let end = UploadEnd(duration: duration)
    var written: Int64?
    var newest: Int64?
    var nextRead = clock.now() + Self.reportInterval
    // Whether more reports may be there: the socket does not announce those that are read already.
    var isMore = false
    while true {
      let now = clock.now()
      let elapsed = now - start
      if end.isReached(elapsed: elapsed, written: written, report: newest) { return false }
      if !writer.hasEnded {
        let isBlocked =
          try writer.write(isTimeUp: elapsed >= duration, limit: 262_144) { bytes throws(SpeedTestError) in
            try transport.write(bytes)
          } == 0
        if writer.hasEnded {
          written = elapsed
          try conversation.chunksEnded()
        } else if isBlocked {
          // Wake up every 20 ms, so that the end of the phase is not missed on a blocked link.
          _ = try wait(for: Int16(POLLOUT), until: min(nextRead, now + 20_000_000))
        }
      }
      if writer.hasEnded {
        if !isMore, try !wait(for: Int16(POLLIN), until: now + 20_000_000) { continue }
      } else {
        try waiting.check()
        guard now >= nextRead else { continue }
        nextRead = now + Self.reportInterval
      }
      var count = 0
      while count < Self.reportsAtATime, case .time(let time, let bytes)? = try line(until: 0) {
        count += 1
        // Only the server's clock and count make the result, so the count is checked where it can be.
        if let bytes, bytes > writer.bytes { throw .protocolError("the server reports bytes that were not sent") }
        newest = time
        // The last time has no bytes: it stands for all of them.
        try report(time, bytes ?? writer.bytes)
        guard bytes == nil else { continue }
        try readUntilReady()
        return true
      }
      isMore = count == Self.reportsAtATime
    }
  }
}
