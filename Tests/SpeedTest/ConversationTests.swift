import Testing

@testable import SpeedTest

@Suite struct ConversationTests {
  private static let commands = ServerLine.accept(["GETCHUNKS", "GETTIME", "PUT", "PUTNORESULT", "PING", "QUIT"])

  private func ready() throws -> Conversation {
    var conversation = Conversation()
    try conversation.read(.greeting(version: "1.3.5"))
    try conversation.read(.accept(["TOKEN", "QUIT"]))
    _ = try conversation.write(.token(try MeasurementToken("t")))
    try conversation.read(.ok)
    try conversation.read(.chunkSizes(try ChunkSizes([4096, 4096, 4_194_304])))
    try conversation.read(Self.commands)
    return conversation
  }

  @Test("When the token is accepted, then the sizes are known and a command may be written")
  func opening() throws {
    let conversation = try ready()
    #expect(conversation.isReady)
    #expect(conversation.version == "1.3.5")
    #expect(conversation.sizes?.largest == 4_194_304)
  }

  @Test(
    "When the reply to TOKEN is unexpected, then the error names the command without the token, which is a secret")
  func secretToken() throws {
    var conversation = Conversation()
    try conversation.read(.greeting(version: "1.3.5"))
    try conversation.read(.accept(["TOKEN", "QUIT"]))
    _ = try conversation.write(.token(try MeasurementToken("a_secret_token")))
    #expect(throws: SpeedTestError.protocolError("pong as the reply to TOKEN")) { try conversation.read(.pong) }
  }

  @Test("Edge 9: when the ACCEPT line of the previous cycle was not read, then no command can be written")
  func neverPipelined() throws {
    var conversation = try ready()
    _ = try conversation.write(.ping)
    #expect(throws: SpeedTestError.self) { try conversation.write(.ping) }
    #expect(throws: SpeedTestError.self) { try conversation.acknowledge() }
    try conversation.read(.pong)
    #expect(throws: SpeedTestError.self) { try conversation.write(.ping) }
    _ = try conversation.acknowledge()
    #expect(throws: SpeedTestError.self) { try conversation.acknowledge() }
    try conversation.read(.time(nanoseconds: 1, bytes: nil))
    #expect(throws: SpeedTestError.self) { try conversation.write(.ping) }
    try conversation.read(Self.commands)
    _ = try conversation.write(.ping)
  }

  @Test("Edge 9: when the token was not accepted yet, then only the token can be written")
  func beforeToken() throws {
    var conversation = Conversation()
    #expect(throws: SpeedTestError.self) { try conversation.write(.ping) }
    try conversation.read(.greeting(version: "1.3.5"))
    try conversation.read(.accept(["TOKEN", "QUIT"]))
    #expect(!conversation.isReady)
    #expect(throws: SpeedTestError.commandRefused("PING")) { try conversation.write(.ping) }
  }

  @Test("Edge 10: when the server has not sent OK, then an upload cannot end its chunks")
  func uploadWaitsForOK() throws {
    var conversation = try ready()
    _ = try conversation.write(.put(size: 4096))
    #expect(throws: SpeedTestError.self) { try conversation.chunksEnded() }
    try conversation.read(.ok)
    try conversation.read(.time(nanoseconds: 5, bytes: 100))
    try conversation.chunksEnded()
    try conversation.read(.time(nanoseconds: 6, bytes: 200))
    try conversation.read(.time(nanoseconds: 7, bytes: nil))
    try conversation.read(Self.commands)
    #expect(conversation.isReady)
  }

  @Test("Edge 18: when the last TIME comes before our last chunk, then the protocol is broken")
  func earlyLastTime() throws {
    var conversation = try ready()
    _ = try conversation.write(.put(size: 4096))
    try conversation.read(.ok)
    #expect(throws: SpeedTestError.self) { try conversation.read(.time(nanoseconds: 7, bytes: nil)) }
  }

  @Test("Edge 11: when any line is written, then it ends with LF alone")
  func linefeeds() throws {
    var conversation = try ready()
    let written = [
      try conversation.write(.getTime(seconds: 7, size: 4096)),
      try {
        try conversation.chunksEnded()
        return try conversation.acknowledge()
      }(),
    ]
    #expect(written.map { String(decoding: $0, as: UTF8.self) } == ["GETTIME 7 4096\n", "OK\n"])
    for command in [ClientCommand.ping, .quit, .put(size: 1), .putNoResult(size: 1), .getChunks(count: 1, size: 1)] {
      #expect(command.line.hasSuffix("\n") && !command.line.contains("\r"))
    }
  }

  @Test("Edge 12: when a command has chunks, then their size is on its line")
  func explicitSize() {
    #expect(ClientCommand.getChunks(count: 8, size: 8192).line == "GETCHUNKS 8 8192\n")
    #expect(ClientCommand.put(size: 12_288).line == "PUT 12288\n")
    #expect(ClientCommand.putNoResult(size: 12_288).line == "PUTNORESULT 12288\n")
  }

  @Test(
    "Edges 13 and 14: when a number is out of the protocol's range, then the command is not written",
    arguments: [
      ClientCommand.getTime(seconds: 0, size: 4096), .getTime(seconds: 31, size: 4096),
      .getChunks(count: 0, size: 4096),
      .getChunks(count: 300_001, size: 4096), .put(size: 4_194_305), .put(size: 0),
    ])
  func ranges(command: ClientCommand) throws {
    var conversation = try ready()
    #expect(throws: SpeedTestError.self) { try conversation.write(command) }
    #expect(conversation.isReady)
  }

  @Test("Edge 13: when a size is clamped, then it is within both ranges, the server's and the protocol's")
  func clamped() throws {
    let sizes = try ChunkSizes([4096, 1024, 9_999_999])
    #expect(sizes.clamped(1024) == 4096)
    #expect(sizes.clamped(9_000_000) == 4_194_304)
    #expect(sizes.clamped(10_000) == 10_000)
    #expect(try ChunkSizes([4096]).clamped(100_000) == 4096)
  }

  @Test("Edges 5 and 7: when the connection ends, then it means a refused token only after TOKEN")
  func meaningOfEnd() throws {
    var conversation = Conversation()
    #expect(conversation.meaningOfEnd == .closed)
    #expect(conversation.mayRetry)
    try conversation.read(.greeting(version: "1.3.5"))
    #expect(conversation.mayRetry)
    try conversation.read(.accept(["TOKEN", "QUIT"]))
    #expect(conversation.meaningOfEnd == .closed)
    _ = try conversation.write(.token(try MeasurementToken("t")))
    #expect(conversation.meaningOfEnd == .tokenRefused)
    #expect(!conversation.mayRetry)
  }

  @Test("Edge 7: when the answer to TOKEN is ERR, then the token was refused")
  func refusedToken() throws {
    var conversation = Conversation()
    try conversation.read(.greeting(version: "1.3.5"))
    try conversation.read(.accept(["TOKEN", "QUIT"]))
    _ = try conversation.write(.token(try MeasurementToken("t")))
    #expect(throws: SpeedTestError.tokenRefused) { try conversation.read(.err) }
  }

  @Test("Edge 32: when the connection ends after QUIT, with or without BYE, then it is no error")
  func endAfterQuit() throws {
    var conversation = try ready()
    _ = try conversation.write(.quit)
    #expect(conversation.meaningOfEnd == nil)
    try conversation.read(.bye)
    #expect(conversation.meaningOfEnd == nil)
  }

  @Test("When the server answers a command with ERR, then the ACCEPT line makes the connection usable again")
  func refusedCommand() throws {
    var conversation = try ready()
    _ = try conversation.write(.put(size: 4096))
    try conversation.read(.err)
    try conversation.read(Self.commands)
    #expect(conversation.isReady)
  }

  @Test(
    "When any line comes at any stage, then it is accepted or refused, and the conversation never writes out of turn")
  func randomLines() throws {
    var generator = SystemRandomNumberGenerator()
    let lines: [ServerLine] = [
      .ok, .err, .pong, .bye, .greeting(version: "1"), Self.commands, .time(nanoseconds: 1, bytes: nil),
      .time(nanoseconds: 1, bytes: 1), .chunkSizes(try ChunkSizes([4096])),
    ]
    for _ in 0..<2000 {
      var conversation = try ready()
      var writes = 0
      var accepts = 1
      for _ in 0..<12 {
        if Bool.random(using: &generator), (try? conversation.write(.ping)) != nil { writes += 1 }
        let line = lines.randomElement(using: &generator) ?? .ok
        if (try? conversation.read(line)) != nil, case .accept = line { accepts += 1 }
        // The acknowledgement may be refused: any order is tried.
        _ = try? conversation.acknowledge()
      }
      #expect(writes <= accepts)
    }
  }
}
