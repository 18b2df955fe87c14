import TestSupport
import Testing

@testable import SpeedTest

/// The other threads when one fails. Edges are those of docs/protocol.md, 9.
@Suite struct WorkerFailureTests {
  /// A rig whose server answers the first `word` on any connection with `reaction`.
  private func rig(_ word: String, _ reaction: LoopbackServer.Reaction, threads: Int = 3) throws -> WorkerRig {
    let once = Once()
    return try WorkerRig(threads: threads) { entry in
      entry.line.split(separator: " ").first.map(String.init) == word && once.isFirst ? reaction : .serve
    }
  }

  @Test(
    "Edges 21 and 29: when a connection closes in any phase, then the others finish, and its curve is not counted",
    arguments: [
      ("GETCHUNKS", 2, 2), ("GETTIME", 2, 2), ("PUTNORESULT", 3, 2), ("PUT", 3, 2),
    ])
  func othersFinish(word: String, downloads: Int, uploads: Int) async throws {
    let outcome = try await rig(word, .close).run()
    #expect(outcome.failures == [.closed])
    #expect(outcome.downloadCurves.count == downloads)
    #expect(outcome.uploadCurves.count == uploads)
    #expect(outcome.isComplete)
  }

  @Test(
    "Edge 29: when a connection breaks within a main phase, then it does not set the common end, its bytes count, and the phase is interrupted",
    arguments: ["GETTIME", "PUT"])
  func breaksWithin(word: String) async throws {
    let rig = try rig(word, .breakOff)
    let outcome = try await rig.run()
    let isDownload = word == "GETTIME"
    #expect(outcome.failures.count == 1 && outcome.isComplete)
    let broken = try #require((isDownload ? outcome.brokenDownloads : outcome.brokenUploads).first?.last)
    let whole = try #require(Throughput(threads: isDownload ? outcome.downloadCurves : outcome.uploadCurves))
    let figures = outcome.figures(rig.plan)
    let rate = try #require(isDownload ? figures.download : figures.upload)
    #expect(broken.bytes > 0 && broken.nanoseconds < whole.nanoseconds)
    #expect(rate.nanoseconds == whole.nanoseconds && rate.bytes == whole.bytes + broken.bytes)
    #expect(rate.connections == 3 && rate.broken == 1 && rate.isInterrupted)
  }

  @Test("Edge 21: when the connection of the pings fails, then the others still load, and the test is not complete")
  func pingFails() async throws {
    let outcome = try await rig("PING", .reset).run()
    #expect(outcome.failures == [.closed])
    #expect(outcome.pings.isEmpty)
    #expect(outcome.downloadCurves.count == 2 && outcome.uploadCurves.count == 2)
    #expect(!outcome.isComplete)
  }

  @Test("When pings fail in the middle, then the earlier ones count")
  func somePings() async throws {
    let counter = Counter()
    let rig = try WorkerRig { entry in entry.line == "PING" && counter.increment() == 4 ? .close : .serve }
    #expect(try await rig.run().pings.count == 3)
  }

  @Test("Edge 7: when one connection's token is refused, then the others finish")
  func tokenOfOne() async throws {
    let outcome = try await rig("TOKEN", .say("ERR\n")).run()
    #expect(outcome.failures == [.tokenRefused])
    #expect(outcome.downloadCurves.count == 2)
  }

  @Test("When every token is refused, then there are no figures, and no server version")
  func allTokens() async throws {
    let rig = try WorkerRig { $0.line.hasPrefix("TOKEN") ? .close : .serve }
    let outcome = try await rig.run()
    #expect(outcome.failures == [.tokenRefused, .tokenRefused, .tokenRefused])
    #expect(outcome.serverVersion == "")
    #expect(rig.server.count == 3)
  }

  @Test("When the server answers a command with ERR, then the error names it, and the connection closes without QUIT")
  func refusedCommand() async throws {
    let rig = try rig("GETTIME", .say("ERR\n" + LoopbackServer.ready), threads: 1)
    #expect(try await rig.run().failures == [.commandRefused("GETTIME")])
    #expect(rig.places("QUIT") == [])
  }

  @Test("Edge 24: when the last chunk does not come, then the connection closes without QUIT and a new one uploads")
  func reconnects() async throws {
    let rig = try rig("GETTIME", .stall(4), threads: 1)
    let outcome = try await rig.run()
    #expect(outcome.failures == [])
    #expect(rig.server.count == 2)
    // Some of the bytes may still be unread when the clock reaches the cut-off.
    #expect((1...419_840).contains(try #require(outcome.download).bytes))
    let (old, new) = (rig.server.lines(0), rig.server.lines(1))
    #expect(old.contains("GETTIME 1 41984") && !old.contains("QUIT") && !old.contains { $0.hasPrefix("PUT") })
    #expect(new.prefix(2) == ["connect", "TOKEN token"])
    #expect(new.contains { $0.hasPrefix("PUT ") } && new.contains("QUIT"))
    #expect(outcome.isComplete)
  }

  @Test(
    "Edge 24: when the last chunk comes within the time of grace, then the connection continues, and its bytes count")
  func grace() async throws {
    let rig = try rig("GETTIME", .late(2.9), threads: 1)
    let outcome = try await rig.run()
    #expect(outcome.failures == [])
    #expect(rig.server.count == 1)
    #expect(outcome.download?.bytes == 419_840)
    #expect(outcome.download?.nanoseconds == 3_900_000_000)
  }

  @Test("Edge 30: when the token has become too old, then the connection is not opened again")
  func tooOldToReconnect() async throws {
    let rig = try rig("GETTIME", .stall(86), threads: 1)
    let outcome = try await rig.run()
    #expect(outcome.failures == [.timeout("the token is too old for another connection")])
    #expect(rig.server.count == 1)
    #expect(outcome.download != nil && outcome.upload == nil)
  }

  @Test("Edge 25: when the server reports nothing, then the upload is given up 3.1 s after its time, without QUIT")
  func deafServer() async throws {
    let rig = try rig("PUT", .stall(3.1), threads: 1)
    let outcome = try await rig.run()
    #expect(outcome.failures == [])
    #expect(outcome.uploadCurves == [[]])
    #expect(outcome.upload == nil)
    #expect(!rig.server.lines(0).contains("QUIT"))
  }

  @Test("Edge 30: when the whole test takes too long, then its threads end")
  func wholeTest() async throws {
    let rig = try rig("PUTNORESULT", .silence(101))
    let outcome = try await rig.run()
    #expect(outcome.failures.count == 3)
    #expect(outcome.failures.contains(.timeout("the whole test")))
    #expect(outcome.uploadCurves.isEmpty)
  }

  @Test("When threads report, then each begins with connecting and ends with closing, and its phases are in order")
  func reports() async throws {
    let rig = try WorkerRig()
    _ = try await rig.run()
    let phases = SpeedTestProgress.Phase.allCases
    for thread in 0..<3 {
      let order = rig.reports.filter { $0.thread == thread }.compactMap { phases.firstIndex(of: $0.phase) }
      #expect(order.first == 0)
      #expect(order.last == phases.count - 1)
      #expect(order == order.sorted())
    }
    #expect(Set(rig.reports.filter { $0.phase == .ping }.map(\.thread)).count == 1)
    #expect(rig.reports.filter { $0.sample != nil }.allSatisfy { [.download, .upload].contains($0.phase) })
    #expect(rig.reports.contains { $0.phase == .download && $0.sample != nil })
  }

  @Test("When a phase of the upload fails on all connections, then the download stays")
  func uploadFails() async throws {
    let rig = try WorkerRig { $0.line.hasPrefix("PUT ") ? .close : .serve }
    let outcome = try await rig.run()
    #expect(outcome.failures == [.closed, .closed, .closed])
    #expect(outcome.downloadCurves.count == 3)
    #expect(outcome.upload == nil && outcome.download != nil && !outcome.isComplete)
  }
}
