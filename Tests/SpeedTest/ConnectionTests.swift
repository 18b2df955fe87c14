import CLibssl
import Foundation
import Synchronization
import Testing

@testable import SpeedTest

/// A connection against a scripted server. Edges are those of docs/protocol.md, 9.
@Suite struct ConnectionTests {
  private func chunk(_ flag: UInt8, size: Int = 4096) -> [UInt8] { [UInt8](repeating: 0x55, count: size - 1) + [flag] }

  @Test("Edges 9, 10 and 11: when pings are made, then each line is one write, and nothing is written before ACCEPT")
  func oneWriteALine() throws {
    let (connection, peer) = try ScriptedPeer.connect { peer in
      for _ in 0..<3 {
        peer.line()
        peer.send("PONG\n")
        peer.line()
        peer.send("TIME 1234\n")
        peer.send(ScriptedPeer.commands)
      }
    }
    for _ in 0..<3 { #expect(try connection.ping(since: 0).server == 1234) }
    #expect(peer.writes == ["TOKEN t_1_x\n"] + Array(repeating: ["PING\n", "OK\n"], count: 3).flatMap { $0 })
  }

  @Test("Edge 23: when the server is late with TIME, then the client's round trip does not include that wait")
  func clientRoundTrip() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send("PONG\n")
      peer.line()
      // A busy server between OK and TIME.
      usleep(200_000)
      peer.send("TIME 1\n" + ScriptedPeer.commands)
    }
    #expect(try connection.ping(since: 0).client < 200_000_000)
  }

  @Test("When chunks come, then they are counted, acknowledged once, and the server's time is the result")
  func download() throws {
    let (connection, peer) = try ScriptedPeer.connect { peer in
      peer.line()
      for flag: UInt8 in [0, 0, 0xFF] { peer.send(self.chunk(flag)) }
      peer.line()
      peer.send("TIME 777\n" + ScriptedPeer.commands)
    }
    var points: [Int64] = []
    let time = try connection.download(.getChunks(count: 3, size: 4096), size: 4096) { _, bytes in points.append(bytes)
    }
    #expect(time == 777)
    #expect(points.last == 12_288)
    #expect(peer.writes.suffix(2) == ["GETCHUNKS 3 4096\n", "OK\n"])
  }

  @Test("When the server floods an upload with reports, then the upload still ends in time")
  func flood() throws {
    let isOver = Mutex(false)
    defer { isOver.withLock { $0 = true } }
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send("OK\n")
      let reports = String(repeating: "TIME 1 BYTES 1\n", count: 500)
      while !isOver.withLock({ $0 }) { peer.send(reports) }
    }
    try connection.beginUpload(.put(size: 4096))
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    let start = Int64(DispatchTime.now().uptimeNanoseconds)
    let isComplete = try connection.upload(main: &writer, since: start, duration: 100_000_000) { _, _ in }
    #expect(!isComplete)
    #expect(Int64(DispatchTime.now().uptimeNanoseconds) - start < 10_000_000_000)
  }

  @Test("Edge 16: when bytes follow the last chunk before our OK, then the protocol is broken")
  func bytesBehindChunks() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send(self.chunk(0xFF) + Array("TIME 1\n".utf8))
    }
    #expect(throws: SpeedTestError.protocolError("bytes behind the last chunk")) {
      try connection.download(.getChunks(count: 1, size: 4096), size: 4096) { _, _ in }
    }
  }

  @Test("Edge 13: when the server answers a download with ERR, then the command is refused, and ERR is no data")
  func refusedDownload() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send("ERR\n" + ScriptedPeer.commands)
    }
    #expect(throws: SpeedTestError.commandRefused("GETTIME")) {
      try connection.download(.getTime(seconds: 1, size: 4096), size: 4096) { _, _ in }
    }
  }

  @Test("Edge 13: when the server closes without an answer, then the error is a closed connection, not a refused token")
  func closedAfterCommand() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.end()
    }
    #expect(throws: SpeedTestError.closed) {
      try connection.download(.getChunks(count: 1, size: 4096), size: 4096) { _, _ in }
    }
  }

  @Test(
    "Edge 24: when the last chunk does not come by the cut-off, then the received bytes count, and the call returns")
  func cutOff() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send(self.chunk(0))
      _ = peer.next()
    }
    var bytes: Int64 = 0
    let time = try connection.download(
      .getTime(seconds: 1, size: 4096), size: 4096, cutOff: Int64(DispatchTime.now().uptimeNanoseconds) + 100_000_000
    ) { bytes = $1 }
    #expect(time == nil && bytes == 4096)
    connection.close()
  }

  @Test("Edges 10 and 19: when a batch is uploaded, then its first byte waits for OK, and its time for the last byte")
  func uploadBatch() throws {
    let (connection, peer) = try ScriptedPeer.connect { peer in
      peer.line()
      // No byte may arrive before our OK.
      var early = [UInt8](repeating: 0, count: 16)
      let count = recv(peer.descriptor, &early, early.count, Int32(MSG_DONTWAIT))
      peer.send("OK\n")
      var total = 0
      while total < 4 * 4096 {
        let bytes = peer.next()
        guard !bytes.isEmpty else { return }
        total += bytes.count
      }
      peer.send("TIME \(count < 0 ? 4242 : 1)\n" + ScriptedPeer.commands)
    }
    try connection.beginUpload(.putNoResult(size: 4096))
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    #expect(try connection.upload(batch: &writer, chunks: 4, size: 4096) == 4242)
    #expect(writer.bytes == 16_384)
    #expect(peer.writes.last == "PUTNORESULT 4096\n")
  }

  @Test("Edge 17: when the server reports without reading until its own buffer is full, then there is no deadlock")
  func reportsWhileWriting() throws {
    // Each look at the clock advances it, so that a busy machine does not reach the limits.
    let clock = StepClock()
    let (connection, _) = try ScriptedPeer.connect(
      now: {
        clock.advance(seconds: 0.001)
        return clock.now
      }
    ) { peer in
      peer.line()
      peer.send("OK\n")
      // Far more than a socket's buffer has room for, in pieces that end in the middle of lines. No report has more bytes than
      // the first chunk: the client may have sent no more when it reads them.
      let reports = Array((1...8000).map { "TIME \($0) BYTES \(($0 + 1) / 2)\n" }.joined().utf8)
      for start in stride(from: 0, to: reports.count, by: 1000) {
        peer.send(Array(reports[start..<min(start + 1000, reports.count)]))
      }
      var last: UInt8 = 0
      var total = 0
      while last != 0xFF || total % 4096 != 0 {
        let bytes = peer.next()
        guard let end = bytes.last else { return }
        last = end
        total += bytes.count
      }
      peer.send("TIME 50000\n" + ScriptedPeer.commands)
    }
    try connection.beginUpload(.put(size: 4096))
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    var points: [(Int64, Int64)] = []
    let isWhole = try connection.upload(
      main: &writer, since: clock.now, duration: 1_500_000_000
    ) { points.append(($0, $1)) }
    #expect(isWhole)
    #expect(points.count == 8001)
    // Edge 18: the last time has no bytes and stands for all of them.
    #expect(points.last?.0 == 50_000 && points.last?.1 == writer.bytes)
  }

  @Test(
    "When each packet has its report, then they are read ten times a second: reading each would cost a slow uplink 1 %"
  )
  func reportsAreReadTogether() throws {
    let clock = StepClock()
    var counter: EmptyReads?
    let (connection, _) = try ScriptedPeer.connect(
      now: {
        clock.advance(seconds: 0.001)
        return clock.now
      },
      wrap: {
        let reads = EmptyReads($0)
        counter = reads
        return reads
      }
    ) { peer in
      peer.line()
      peer.send("OK\n")
      var total = 0
      while true {
        let bytes = peer.next()
        guard let end = bytes.last else { return }
        total += bytes.count
        if end == 0xFF { break }
        peer.send("TIME \(total) BYTES \(total)\n")
      }
      peer.send("TIME \(total)\n" + ScriptedPeer.commands)
    }
    try connection.beginUpload(.put(size: 4096))
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    let before = try #require(counter).count
    var points = 0
    let isWhole = try connection.upload(main: &writer, since: clock.now, duration: 10_000_000_000) { _, _ in points += 1
    }
    #expect(isWhole)
    // A chunk is two or three looks at the clock; some 50 chunks can be under way at the end, each with a read of its own.
    #expect(points > 1000)
    #expect(try #require(counter).count - before < 200)
  }

  @Test("When the server reports more bytes than were sent, then the protocol is broken, and no point is recorded")
  func reportsTooMuch() throws {
    let (connection, _) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send("OK\nTIME 1 BYTES 9007199254740992\n")
      while !peer.next().isEmpty {}
    }
    try connection.beginUpload(.put(size: 4096))
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 4096, generator: &generator)
    var points = 0
    #expect(throws: SpeedTestError.protocolError("the server reports bytes that were not sent")) {
      _ = try connection.upload(
        main: &writer, since: Int64(DispatchTime.now().uptimeNanoseconds), duration: 1_500_000_000
      ) { _, _ in points += 1 }
    }
    #expect(points == 0)
    connection.close()
  }

  @Test(
    "Edges 32 and 33: when the server closes after QUIT, with or without BYE, then it is no error",
    arguments: [true, false])
  func quit(saysBye: Bool) throws {
    let (connection, peer) = try ScriptedPeer.connect { peer in
      peer.line()
      if saysBye { peer.send("BYE\n") }
      peer.end()
    }
    connection.quit()
    #expect(peer.writes.last == "QUIT\n")
  }

  @Test("Edge 9: when bytes follow ACCEPT, then no command is written")
  func strayBytes() throws {
    let (connection, peer) = try ScriptedPeer.connect { peer in
      peer.line()
      peer.send("PONG\n")
      peer.line()
      peer.send("TIME 1\n" + ScriptedPeer.commands + "PONG\n")
    }
    _ = try connection.ping(since: 0)
    #expect(throws: SpeedTestError.protocolError("bytes behind ACCEPT")) { try connection.command(.ping) }
    #expect(peer.writes.filter { $0 == "PING\n" }.count == 1)
  }

  @Test("Edge 10: when a socket is set up, then lines leave at once (TCP_NODELAY) and little waits unsent (edge 25)")
  func socketOptions() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let plain = PlainSocket(descriptor: descriptor)
    func option(_ level: Int32, _ name: Int32) -> Int32 {
      var value: Int32 = -1
      var size = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(plain.descriptor, level, name, &value, &size)
      return value
    }
    #expect(option(Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
    #expect(option(Int32(IPPROTO_TCP), 25) == 131_072)
    PlainSocket.limitBacklog(descriptor)
    #expect(option(SOL_SOCKET, SO_SNDBUF) == 32_768)
  }
}
