import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// The threads of a test with real sockets and a clock that the server moves. Edges are those of
/// docs/protocol.md, 9.
@Suite struct WorkerTests {
  /// Waits until the journal has `count` ends: the server notices an end after the client.
  private func ends(_ rig: WorkerRig, _ count: Int) async throws {
    _ = try await eventually("\(count) connections end") { rig.places("end").count == count ? true : nil }
  }

  @Test("Edge 33: when a test is whole, then every connection sends QUIT at its end, and nothing after it")
  func quitOnEveryConnection() async throws {
    let rig = try WorkerRig()
    let outcome = try await rig.run()
    try await ends(rig, 3)
    #expect(outcome.failures == [])
    #expect(rig.server.count == 3)
    for connection in 0..<3 {
      let lines = rig.server.lines(connection)
      #expect(lines.prefix(2) == ["connect", "TOKEN token"])
      // The servers of the other connections move the clock too: on a starved machine, a thread finds its upload over time, and closes.
      let wasGivenUp = lines.suffix(2).first?.hasPrefix("PUT ") == true
      #expect(wasGivenUp || lines.suffix(2) == ["QUIT", "end"])
    }
  }

  @Test("Edge 33: when a test has one connection, then it sends QUIT at its end")
  func quit() async throws {
    let rig = try WorkerRig(threads: 1)
    _ = try await rig.run()
    try await ends(rig, 1)
    #expect(rig.server.lines(0).suffix(2) == ["QUIT", "end"])
  }

  @Test(
    "Edge 33: when a test is aborted, then its connections close without QUIT",
    arguments: ["GETCHUNKS", "PING", "GETTIME", "PUT"])
  func abortJustCloses(word: String) async throws {
    let clock = StepClock()
    let rig = try WorkerRig(clock: clock) { entry in
      guard entry.line.hasPrefix(word + " ") || entry.line == word else { return .serve }
      clock.abort()
      return .silence(0)
    }
    let outcome = try await rig.run()
    try await ends(rig, 3)
    #expect(outcome.failures == [.aborted, .aborted, .aborted])
    #expect(rig.places("QUIT") == [])
    #expect(outcome.upload == nil)
  }

  @Test(
    "Edge 21: when phases follow each other, then none begins before all connections have sent the last command of the one before"
  )
  func phasesDoNotOverlap() async throws {
    let rig = try WorkerRig()
    let outcome = try await rig.run()
    #expect(outcome.failures == [])
    try await ends(rig, 3)
    let phases = ["TOKEN", "GETCHUNKS", "PING", "GETTIME", "PUTNORESULT", "PUT", "QUIT"]
    for (before, after) in zip(phases, phases.dropFirst()) {
      let last = try #require(rig.places(before).last, "\(before): \(rig.server.journal.suffix(12))")
      let first = try #require(rig.places(after).first, "\(after): \(rig.server.journal.suffix(12))")
      #expect(last < first, "\(before) before \(after)")
    }
    #expect(Set(rig.connections("GETTIME")) == [0, 1, 2] && rig.connections("GETTIME").count == 3)
    #expect(Set(rig.connections("PUT")) == [0, 1, 2] && rig.connections("PUT").count == 3)
  }

  @Test("When a test is whole, then its figures are those of the server's clock and bytes")
  func figures() async throws {
    let rig = try WorkerRig(threads: 1)
    let outcome = try await rig.run()
    #expect(outcome.serverVersion == "1.3.5")
    #expect(outcome.encryption == nil)
    #expect(outcome.isComplete && !outcome.fellBackToOne)
    let size = try #require(rig.server.lines(0).first { $0.hasPrefix("GETTIME") }?.split(separator: " ").last)
    let bytes = try #require(Int64(size)) * 10
    #expect(outcome.download?.nanoseconds == 1_000_000_000)
    #expect(outcome.download?.bytes == bytes)
    let upload = try #require(outcome.upload)
    #expect((1_000_000_000...2_000_000_000).contains(upload.nanoseconds))
  }

  @Test(
    "Edge 23: when pings are made, then one connection makes them for a second, with times since the start of the test")
  func pings() async throws {
    let rig = try WorkerRig()
    let pings = try await rig.run().pings
    #expect(pings.count == 10)
    #expect(Set(rig.connections("PING")).count == 1)
    #expect(Set(pings.map(\.client)) == [100_000_000])
    #expect(pings.map(\.server).median == 30_000_000)
    let offsets = pings.map(\.offset)
    #expect(zip(offsets, offsets.dropFirst()).allSatisfy { $1 - $0 == 100_000_000 })
    // After the pre-test of two seconds.
    #expect(try #require(offsets.first) >= 2_000_000_000)
  }

  @Test("When the plan has more pings, then they continue beyond the second")
  func morePings() async throws {
    let rig = try WorkerRig(threads: 1, pings: 14)
    #expect(try await rig.run().pings.count == 14)
  }

  @Test("Edge 14: when pre-tests run, then batches grow for two seconds, in both directions")
  func preTests() async throws {
    let rig = try WorkerRig(threads: 1)
    _ = try await rig.run()
    let lines = rig.server.lines(0)
    #expect(
      lines.filter { $0.hasPrefix("GETCHUNKS") } == [
        "GETCHUNKS 1 4096", "GETCHUNKS 2 4096", "GETCHUNKS 4 4096", "GETCHUNKS 8 4096", "GETCHUNKS 8 8192",
        "GETCHUNKS 8 16384", "GETCHUNKS 8 32768", "GETCHUNKS 8 65536",
      ])
    #expect(
      lines.filter { $0.hasPrefix("PUTNORESULT") }.map { $0.split(separator: " ").last } == [
        "4096", "4096", "4096", "4096", "8192", "16384", "32768", "65536",
      ])
    // 8 chunks of 64 KiB in 0.25 s: 41 KiB in 20 ms.
    #expect(lines.contains("GETTIME 1 41984"))
    #expect(lines.contains("PUT 41984"))
  }

  @Test("Edge 14: when the plan has other seconds, then GETTIME asks for them")
  func seconds() async throws {
    let rig = try WorkerRig(threads: 1, seconds: 4)
    let outcome = try await rig.run()
    #expect(rig.server.lines(0).contains { $0.hasPrefix("GETTIME 4 ") })
    #expect(outcome.download?.nanoseconds == 4_000_000_000)
  }

  @Test("Edge 22: when the link is slow, then all but one connection send QUIT before the pings end, and one continues")
  func fallback() async throws {
    let rig = try WorkerRig(batchSeconds: 1)
    let outcome = try await rig.run()
    try await ends(rig, 3)
    #expect(outcome.fellBackToOne)
    #expect(outcome.failures == [])
    #expect(rig.places("QUIT").count == 3)
    let leader = try #require(rig.connections("PING").first)
    #expect(Set(rig.connections("PING")) == [leader])
    #expect(rig.connections("GETTIME") == [leader] && rig.connections("PUT") == [leader])
    #expect(outcome.downloadCurves.count == 1 && outcome.uploadCurves.count == 1)
    for other in Set(0..<3).subtracting([leader]) {
      #expect(rig.server.lines(other).suffix(3) == ["GETCHUNKS 2 4096", "QUIT", "end"])
    }
    #expect(outcome.isComplete)
  }

  @Test("Edge 22: when only one connection finds the link slow, then all fall back to one connection")
  func oneVote() async throws {
    let once = Once()
    // The second batch of one connection lasts to the end of the pre-test; the two others transfer all of theirs meanwhile.
    let rig = try WorkerRig { $0.line == "GETCHUNKS 2 4096" && once.isFirst ? .late(1.75) : .serve }
    let outcome = try await rig.run()
    #expect(outcome.fellBackToOne && outcome.failures == [])
    #expect(rig.connections("GETTIME").count == 1)
    #expect(outcome.downloadCurves.count == 1 && outcome.isComplete)
  }

  @Test("Edges 21 and 22: when a connection fails in the pre-test with few chunks, then it has no vote")
  func noVoteOfTheFailed() async throws {
    let once = Once()
    let rig = try WorkerRig { $0.line == "GETCHUNKS 2 4096" && once.isFirst ? .close : .serve }
    let outcome = try await rig.run()
    #expect(!outcome.fellBackToOne)
    #expect(outcome.failures == [.closed])
    #expect(outcome.downloadCurves.count == 2)
  }

  @Test("When one connection is planned and the link is slow, then it does the whole test")
  func slowAlone() async throws {
    let rig = try WorkerRig(threads: 1, batchSeconds: 1)
    let outcome = try await rig.run()
    #expect(outcome.isComplete && outcome.failures == [])
    #expect(rig.server.lines(0).last { $0 != "end" } == "QUIT")
  }
}
