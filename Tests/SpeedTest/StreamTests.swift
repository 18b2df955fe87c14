import Coverage
import Testing

@testable import SpeedTest

/// A connection on a stream whose reads and writes a test sets one by one. Edges are those of
/// docs/protocol.md, 9.
@Suite struct StreamTests {
  private let clock = StepClock()
  private static let opening = "RMBTv1.3.5\nACCEPT TOKEN QUIT\n"
  private static let accepted = "OK\nCHUNKSIZE 4096 4096 4194304\nACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT\n"

  /// A connection after its token, and its stream, which then has `reads`.
  /// - Parameter ticks: Seconds by which each look at the clock moves it.
  private func ready(_ reads: [String] = [], ticks: Double = 0) throws -> (Connection, FakeTransport) {
    let stream = try FakeTransport([Array(Self.opening.utf8)])
    let ticking = TestClock(
      now: { [clock] in
        clock.advance(seconds: ticks)
        return clock.now
      }, isAborted: clock.clock.isAborted)
    let connection = Connection(stream, waiting: Waiting(clock: ticking, deadline: clock.waiting().deadline))
    try connection.readUntilReady()
    try connection.command(.token(try MeasurementToken("t")))
    stream.reads = [Array(Self.accepted.utf8)]
    try connection.readUntilReady(isFirst: true)
    stream.reads = reads.map { Array($0.utf8) }
    return (connection, stream)
  }

  private static let acceptLine = "ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT\n"

  @Test("Edge 24: when a fast server never ends its download, then the cut-off ends it though bytes are always there")
  func cutOffUnderFullLoad() throws {
    let (connection, stream) = try ready()
    stream.endless = 0
    stream.step = { [clock] in clock.advance(seconds: 0.1) }
    var last: Int64 = 0
    let end = clock.now + 2_000_000_000
    let time = try connection.download(.getTime(seconds: 1, size: 4096), size: 4096, cutOff: end) { time, _ in
      last = time
    }
    #expect(time == nil)
    #expect((end...end + 200_000_000).contains(last))
  }

  @Test("When a test is aborted while bytes are always there, then the download ends at once")
  func abortUnderFullLoad() throws {
    let (connection, stream) = try ready()
    stream.endless = 0
    stream.step = { [clock] in clock.advance(seconds: 0.001) }
    var reads = 0
    #expect(throws: SpeedTestError.aborted) {
      try connection.download(.getChunks(count: 8, size: 4096), size: 4096) { [clock] _, _ in
        reads += 1
        if reads == 5 { clock.abort() }
      }
    }
    #expect(reads == 5)
  }

  @Test("Edge 30: when the whole test is over while bytes are always there, then the download ends")
  func wholeTestUnderFullLoad() throws {
    let (connection, stream) = try ready()
    stream.endless = 0
    stream.step = { [clock] in clock.advance(seconds: 10) }
    #expect(throws: SpeedTestError.timeout("the whole test")) {
      try connection.download(.getChunks(count: 8, size: 4096), size: 4096) { _, _ in }
    }
  }

  @Test("Edge 10: when the stream accepts a line in parts, then its bytes go out once each, in order")
  func partsOfALine() throws {
    let (connection, stream) = try ready()
    stream.takes = 2
    let before = stream.written.count
    try connection.command(.getTime(seconds: 7, size: 8192))
    #expect(String(decoding: stream.written[before...].joined(), as: UTF8.self) == "GETTIME 7 8192\n")
    #expect(stream.written[before...].allSatisfy { (1...2).contains($0.count) })
  }

  @Test("Edge 30: when the stream accepts no bytes until the end of the whole test, then the write ends")
  func takesNothing() throws {
    let (connection, stream) = try ready()
    stream.takes = 0
    stream.step = { [clock] in clock.advance(seconds: 10) }
    #expect(throws: SpeedTestError.timeout("the whole test")) { try connection.command(.ping) }
  }

  @Test("Edge 17: when lines are split anywhere, then a ping has the same result")
  func splitLines() throws {
    let (connection, stream) = try ready(["PO", "NG", "\n", "TIME 5", "5\nACC"])
    stream.reads += [Array(Self.acceptLine.dropFirst(3).utf8)]
    let ping = try connection.ping(since: 0)
    #expect(ping.server == 55)
    #expect(connection.conversation.isReady)
  }

  @Test(
    "Edge 23: when the server's TIME comes late, then the client's time ends at PONG, and the offset begins at PING")
  func clientTime() throws {
    let (connection, stream) = try ready(["PONG\n", "TIME 7\n" + Self.acceptLine])
    // Before each of: the write of PING, the read of PONG, the write of OK, the read of TIME.
    stream.step = { [clock] in clock.advance(seconds: 1) }
    let start = clock.now
    clock.advance(seconds: 3)
    let ping = try connection.ping(since: start)
    #expect(ping == SpeedTestPing(client: 2_000_000_000, server: 7, offset: 3_000_000_000))
  }

  @Test(
    "When a ping's answer is another word, then the protocol is broken",
    arguments: ["BYE\n", "OK\n"])
  func foreignAnswer(answer: String) throws {
    let (connection, _) = try ready([answer])
    #expect(throws: SpeedTestError.self) { try connection.ping(since: 0) }
  }

  @Test("When ERR answers a ping, then the error names the refused command")
  func refusedPing() throws {
    let (connection, _) = try ready(["ERR\n" + Self.acceptLine])
    #expect(throws: SpeedTestError.commandRefused("PING")) {
      try connection.ping(since: 0)
    }
  }

  @Test("Edge 13: when chunks begin with the letters of ERR, then they are data", arguments: [4096, 600])
  func dataLikeERR(first: Int) throws {
    let (connection, stream) = try ready()
    let chunk = Array("ERR\n".utf8) + [UInt8](repeating: 1, count: 4091) + [0xFF]
    stream.reads = [
      Array(chunk.prefix(first)), Array(chunk.dropFirst(first)), Array(("TIME 9\n" + Self.acceptLine).utf8),
    ]
    .filter { !$0.isEmpty }
    #expect(try connection.download(.getChunks(count: 1, size: 4096), size: 4096) { _, _ in } == 9)
  }

  @Test("Edge 19: when a batch is sent, then the last chunk alone has the flag of the end")
  func flagsOfABatch() throws {
    let (connection, stream) = try ready(["OK\n"])
    try connection.beginUpload(.putNoResult(size: 4096))
    stream.reads = [Array(("TIME 12\n" + Self.acceptLine).utf8)]
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    let before = stream.written.count
    #expect(try connection.upload(batch: &writer, chunks: 3, size: 4096) == 12)
    let bytes = Array(stream.written[before...].joined())
    #expect(bytes.count == 3 * 4096)
    #expect([4095, 8191, 12_287].map { bytes[$0] } == [0, 0, 0xFF])
  }

  @Test("Edge 16: when bytes follow ACCEPT, then QUIT is not written, and the connection closes")
  func quitBehindStrayBytes() throws {
    let (connection, stream) = try ready(["PONG\n", "TIME 7\n" + Self.acceptLine + "x"])
    _ = try connection.ping(since: 0)
    let before = stream.written.count
    connection.quit()
    #expect(stream.written.count == before && stream.isClosed)
  }

  @Test("Edge 33: when a command is under way, then quitting closes without QUIT")
  func quitInCommand() throws {
    let (connection, stream) = try ready()
    try connection.command(.put(size: 4096))
    let before = stream.written.count
    connection.quit()
    #expect(stream.written.count == before && stream.isClosed)
  }

  @Test("Edge 33: when the server does not answer QUIT, then the wait for BYE lasts a second")
  func silentQuit() throws {
    let (connection, stream) = try ready(ticks: 0.2)
    stream.becomeSilent()
    let before = clock.now
    connection.quit()
    #expect(stream.written.last == Array("QUIT\n".utf8) && stream.isClosed)
    // A second, and a few ticks of the clock.
    #expect((1_000_000_000...2_500_000_000).contains(clock.now - before))
  }

  /// Runs `body` on a connection to a silent server, with a clock that each look moves by 2 s.
  /// - Returns: The seconds until the time limit.
  private func wait(_ text: String, until body: (Connection) throws -> Void) throws -> Double {
    let stream = try FakeTransport([Array(text.utf8)])
    stream.becomeSilent()
    let ticking = TestClock(
      now: { [clock] in
        clock.advance(seconds: 2)
        return clock.now
      }, isAborted: { false })
    let connection = Connection(stream, waiting: Waiting(clock: ticking, deadline: .max))
    let before = clock.now
    try body(connection)
    return Double(clock.now - before) / 1e9
  }

  @Test("Edge 30: when the server says nothing at all, then the wait ends after 30 s")
  func noGreeting() throws {
    let seconds = try wait("") { connection in
      #expect(throws: SpeedTestError.timeout("the server is silent")) { try connection.readUntilReady() }
    }
    #expect((30...40).contains(seconds))
  }

  @Test("Edge 30: when the answer to the upgrade does not come, then the wait ends after 30 s")
  func noUpgrade() throws {
    let seconds = try wait("HTTP/1.1 101 Switching Protocols\r\n") { connection in
      #expect(throws: SpeedTestError.timeout("the answer to the upgrade")) { try connection.readHead() }
    }
    #expect((30...40).contains(seconds))
  }

  @Test("Edge 7: when the server waits for the token's start, then the wait for its answer is 35 s")
  func tokenWait() throws {
    var afterToken: Int64 = 0
    _ = try wait(Self.opening) { connection in
      try connection.readUntilReady()
      try connection.command(.token(try MeasurementToken("t")))
      afterToken = clock.now
      #expect(throws: SpeedTestError.timeout("the server is silent")) { try connection.readUntilReady(isFirst: true) }
    }
    #expect((35_000_000_000...45_000_000_000).contains(clock.now - afterToken))
  }
}
