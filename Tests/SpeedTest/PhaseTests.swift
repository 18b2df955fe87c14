import Foundation
import Testing

@testable import SpeedTest

@Suite struct PhaseTests {
  private static func sizes() throws -> ChunkSizes { try ChunkSizes([4096, 4096, 4_194_304]) }

  @Test("Edge 14: when a pre-test goes on, then the number stops at 8 and the size doubles up to the server's")
  func batches() throws {
    var test = PreTest(duration: 2_000_000_000, sizes: try Self.sizes())
    var batches: [String] = []
    while let batch = test.next(elapsed: Int64(batches.count) * 100_000_000) {
      batches.append("\(batch.count)x\(batch.size)")
      test.done(time: 1_000_000)
      #expect(ClientCommand.getChunks(count: batch.count, size: batch.size).isInRange)
    }
    #expect(batches.prefix(6) == ["1x4096", "2x4096", "4x4096", "8x4096", "8x8192", "8x16384"])
    #expect(batches.count == 20)
    #expect(batches.last == "8x4194304")
  }

  @Test("When no more than four chunks came, then the link is slow; with a third batch it is not")
  func slowLink() throws {
    var test = PreTest(duration: 2_000_000_000, sizes: try Self.sizes())
    #expect(test.isSlow)
    test.done(time: 1_000_000_000)
    test.done(time: 1_000_000_000)
    #expect(test.chunks == 3 && test.isSlow)
    test.done(time: 1_000_000_000)
    #expect(test.chunks == 7 && !test.isSlow)
  }

  @Test(
    "Edge 25: when a connection has less than 1 Mbit/s in the pre-test, then its backlog must be limited; latency does not count"
  )
  func slowRate() throws {
    var test = PreTest(duration: 2_000_000_000, sizes: try Self.sizes())
    #expect(test.hasSlowRate(latency: 0))
    // 4 chunks, 16 KiB, in 130 ms; then 32 KiB in 1 s.
    for time: Int64 in [1_000_000, 65_000_000, 130_000_000] { test.done(time: time) }
    #expect(!test.hasSlowRate(latency: 0))
    test.done(time: 1_000_000_000)
    #expect(test.hasSlowRate(latency: 0))
    #expect(test.hasSlowRate(latency: 700_000_000))
    #expect(!test.hasSlowRate(latency: 750_000_000))
    #expect(!test.hasSlowRate(latency: 1_100_000_000))
  }

  @Test("When the pre-test's rate is known, then a chunk has the bytes of 20 ms, in whole KiB, capped")
  func chunkSize() throws {
    var test = PreTest(duration: 2_000_000_000, sizes: try Self.sizes())
    #expect(test.chunkSize() == 4096)
    test.done(time: 10_000_000)
    // 2 chunks in 1 ms beside the latency of 10 ms: 8.192 MB/s, 160 KiB in 20 ms.
    test.done(time: 11_000_000)
    #expect(test.chunkSize() == 160 * 1024)
    #expect(test.chunkSize(cap: 65_536) == 65_536)
  }

  @Test("When a batch takes less time than the first one, or none, then the rate is still a number")
  func fragileRate() throws {
    var test = PreTest(duration: 2_000_000_000, sizes: try Self.sizes())
    test.done(time: 10_000_000)
    test.done(time: 9_000_000)
    #expect(test.rate.map { $0 > 0 && $0.isFinite } == true)
    test.done(time: 0)
    #expect((4096...524_288).contains(test.chunkSize()))
  }

  @Test("Edge 21: when a member leaves, then the round of the others ends, in every order")
  func leaving() {
    var meeting = Meeting(members: [0, 1, 2])
    #expect(meeting.arrive(0, vote: 0, at: 1) == false)
    #expect(meeting.arrive(1, vote: 0, at: 2) == false)
    #expect(meeting.leave(2, at: 3) == true)
    #expect(meeting.latest == Meeting.Release(time: 3, votes: [0: 0, 1: 0]))
    #expect(meeting.leave(0, at: 4) == false)
    #expect(meeting.arrive(1, vote: 7, at: 5) == true)
    #expect(meeting.latest?.leader == 1)
    #expect(meeting.leave(1, at: 6) == false)
    #expect(meeting.arrive(1, vote: 0, at: 7) == false)
  }

  @Test("Edge 22: when votes differ, then all members see the same votes of the round, even after a member leaves")
  func votes() {
    var meeting = Meeting(members: [0, 1])
    _ = meeting.arrive(1, vote: 1, at: 1)
    #expect(meeting.arrive(0, vote: 0, at: 2) == true)
    _ = meeting.leave(0, at: 3)
    #expect(meeting.latest == Meeting.Release(time: 2, votes: [0: 0, 1: 1]))
    #expect(meeting.latest?.leader == 0)
  }

  @Test("Edge 21: when members arrive and leave in random orders, then no round waits for a member that left")
  func randomOrders() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<5000 {
      let count = Int.random(in: 1...5, using: &generator)
      var meeting = Meeting(members: Set(0..<count))
      var (active, waiting) = (Set(0..<count), Set<Int>())
      while !active.isEmpty {
        guard let member = active.subtracting(waiting).randomElement(using: &generator) else {
          Issue.record("all members wait, and the round has not ended")
          break
        }
        let before = meeting.rounds
        if Int.random(in: 0..<4, using: &generator) == 0 {
          active.remove(member)
          _ = meeting.leave(member, at: 0)
        } else {
          waiting.insert(member)
          _ = meeting.arrive(member, vote: 0, at: 0)
        }
        if meeting.rounds > before { waiting = [] }
      }
    }
  }

  @Test("Edge 21: when another thread never comes, then a thread waits until the deadline only")
  func deadlineOfBarrier() {
    let barrier = Barrier(members: 2, now: { Int64(DispatchTime.now().uptimeNanoseconds) })
    #expect(throws: SpeedTestError.self) {
      try barrier.meet(0, by: Int64(DispatchTime.now().uptimeNanoseconds) + 20_000_000)
    }
  }

  @Test("When threads meet at a barrier many times, then each sees the rounds one by one")
  func threads() async {
    let barrier = Barrier(members: 4, now: { Int64(DispatchTime.now().uptimeNanoseconds) })
    await withTaskGroup(of: Bool.self) { group in
      for member in 0..<4 {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              var isGood = true
              for round in 1...200 {
                let release = try? barrier.meet(member, vote: Int64(round), by: .max)
                isGood =
                  isGood && Set(release?.votes.values.map { $0 } ?? []) == [Int64(round)]
              }
              continuation.resume(returning: isGood)
            }
          }
        }
      }
      for await isGood in group { #expect(isGood) }
    }
  }

  private let second: Int64 = 1_000_000_000

  @Test("Edge 25: when the last block is written, then w1 passes before a report near the end suffices")
  func firstWait() {
    let end = UploadEnd(duration: 7 * second)
    #expect(!end.isReached(elapsed: 7 * second + 50_000_000, written: 7 * second, report: 7 * second))
    #expect(end.isReached(elapsed: 7 * second + 100_000_000, written: 7 * second, report: 7 * second))
  }

  @Test("Edges 25 and 26: when reports lag, then w2 more passes, but a report within w3 of the end is enough")
  func laterWaits() {
    let end = UploadEnd(duration: 7 * second)
    #expect(!end.isReached(elapsed: 8 * second, written: 7 * second, report: 6 * second - 1))
    #expect(end.isReached(elapsed: 8 * second, written: 7 * second, report: 6 * second))
    #expect(!end.isReached(elapsed: 10 * second, written: 7 * second, report: nil))
    #expect(end.isReached(elapsed: 10 * second + 100_000_000, written: 7 * second, report: nil))
  }

  @Test(
    "When a phase is shorter than 7 s, then w3 is a seventh of it, so that an upload does not end at its first report")
  func shortPhase() {
    let end = UploadEnd(duration: second)
    #expect(!end.isReached(elapsed: second + 100_000_000, written: second, report: 240_000_000))
    #expect(end.isReached(elapsed: second + 100_000_000, written: second, report: 857_142_858))
    #expect(end.isReached(elapsed: second + 3_100_000_000, written: second, report: 240_000_000))
    let long = UploadEnd(duration: 30 * second)
    #expect(long.isReached(elapsed: 31 * second, written: nil, report: 29 * second))
  }

  @Test("Edge 25: when a slow link never accepts the last block, then the upload still ends by t + 3.1 s")
  func backlog() {
    let end = UploadEnd(duration: 7 * second)
    #expect(!end.isReached(elapsed: 6 * second, written: nil, report: 6 * second))
    #expect(!end.isReached(elapsed: 7 * second + 200_000_000, written: nil, report: 5 * second))
    #expect(end.isReached(elapsed: 7 * second + 3_100_000_000, written: nil, report: 5 * second))
  }

  @Test("Edge 5: when a fresh connection ends, then it is tried again four times with growing waits; otherwise never")
  func openingRetry() {
    var retry = OpeningRetry()
    var waits: [Int64?] = []
    for _ in 0..<5 { waits.append(retry.wait(after: .closed, mayRetry: true)) }
    #expect(waits == [100_000_000, 200_000_000, 300_000_000, 400_000_000, nil])
    var other = OpeningRetry()
    let (used, refused) = (
      other.wait(after: .closed, mayRetry: false), other.wait(after: .tokenRefused, mayRetry: true)
    )
    #expect(used == nil && refused == nil)
  }

  @Test("Edges 7 and 30: when limits are set, then a token may wait 20 s, and the whole test ends")
  func limits() {
    #expect(TimeLimits.token > 20 * second + 5 * second)
    #expect(TimeLimits.read == 30 * second)
    #expect(TimeLimits(duration: 7 * second).whole == 80_200_000_000)
    #expect(TimeLimits(duration: .max).whole < 200 * second)
    #expect(TimeLimits.reconnect < 90 * second)
  }

  @Test("Edge 4: when the server is an address, then it is not sent as a name in TLS", arguments: ["127.0.0.1", "::1"])
  func addressIsNoName(host: String) { #expect(!TLSSocket.isSentAsName(host)) }

  @Test("Edge 4: when the server has a name, then it is sent")
  func name() { #expect(TLSSocket.isSentAsName("host.example")) }

  @Test("When a wait ends because the whole test ended or was aborted, then the error says which")
  func waits() {
    let over = Waiting(clock: TestClock(now: { 10 }, isAborted: { false }), deadline: 10)
    #expect(throws: SpeedTestError.timeout("the whole test")) { try over.wait(on: -1, for: 1, until: 100) }
    let aborted = Waiting(clock: TestClock(now: { 10 }, isAborted: { true }), deadline: 100)
    #expect(throws: SpeedTestError.aborted) { try aborted.wait(on: -1, for: 1, until: 100) }
  }
}
