import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// Threads at a barrier when one of them fails. Edges are those of docs/protocol.md, 9.
@Suite struct BarrierTests {
  private let clock = StepClock()

  /// A thread that meets at the barrier, and its result.
  private func thread(
    _ barrier: Barrier, _ member: Int, vote: Int64 = 0, by deadline: Int64 = .max
  ) -> Task<Result<Meeting.Release, SpeedTestError>, Never> {
    Task {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(
            returning: Result { () throws(SpeedTestError) in try barrier.meet(member, vote: vote, by: deadline) })
        }
      }
    }
  }

  @Test(
    "Edge 21: when a thread fails while all others wait, then they continue at that moment, with only their own votes")
  func failsWhileOthersWait() async throws {
    let barrier = Barrier(members: 3, now: clock.clock.now)
    let (first, second) = (thread(barrier, 0, vote: 10), thread(barrier, 1, vote: 11))
    clock.advance(seconds: 5)
    barrier.leave(2)
    // Both may also arrive after the leave: then the round ends with the last of them.
    let (one, other) = (try await first.value.get(), try await second.value.get())
    #expect(one == other)
    #expect(one.votes == [0: 10, 1: 11])
    #expect(one.time == 6_000_000_000)
  }

  @Test("Edge 21: when a thread fails before the others come, then they do not wait for it")
  func failsBefore() async throws {
    let barrier = Barrier(members: 3, now: clock.clock.now)
    barrier.leave(0)
    let (first, second) = (thread(barrier, 1), thread(barrier, 2))
    #expect(try await first.value.get() == second.value.get())
  }

  @Test("Edge 21: when all others have failed, then the last thread passes at once, round by round")
  func alone() throws {
    let barrier = Barrier(members: 20, now: clock.clock.now)
    for member in 0..<19 { barrier.leave(member) }
    for _ in 1...5 {
      let release = try barrier.meet(19, vote: 3, by: 0)
      #expect(release == Meeting.Release(time: 1_000_000_000, votes: [19: 3]))
      #expect(release.leader == 19)
    }
  }

  @Test("Edge 30: when a thread waits beyond the deadline, then it fails, and the others meet without it")
  func deadline() async throws {
    let barrier = Barrier(members: 3, now: clock.clock.now)
    #expect(throws: SpeedTestError.timeout("another connection did not end its phase")) {
      try barrier.meet(0, vote: 1, by: clock.now)
    }
    barrier.leave(0)
    let (first, second) = (thread(barrier, 1), thread(barrier, 2))
    #expect(try await first.value.get().votes == [1: 0, 2: 0])
    _ = try await second.value.get()
  }

  @Test("Edge 30: when the deadline comes during the wait, then the wait ends though nothing wakes it")
  func deadlineDuringTheWait() async {
    let barrier = Barrier(members: 2, now: clock.clock.now)
    let waiting = thread(barrier, 0, by: clock.now + 1_000_000_000)
    clock.advance(seconds: 2)
    #expect(await waiting.value == .failure(.timeout("another connection did not end its phase")))
  }

  @Test("When a member arrives again after it left, then it is rejected, and ends no round")
  func behindLeave() {
    let barrier = Barrier(members: 2, now: clock.clock.now)
    barrier.leave(0)
    #expect(throws: SpeedTestError.self) { try barrier.meet(0, by: clock.now) }
    #expect(throws: Never.self) { try barrier.meet(1, by: clock.now) }
  }

  @Test("When a round has ended, then the next one does not have its votes")
  func votesOfEachRound() {
    var meeting = Meeting(members: [0, 1])
    _ = meeting.arrive(0, vote: 1, at: 1)
    _ = meeting.arrive(1, vote: 1, at: 2)
    _ = meeting.arrive(1, vote: 0, at: 3)
    #expect(meeting.rounds == 1)
    _ = meeting.arrive(0, vote: 0, at: 4)
    #expect(meeting.latest == Meeting.Release(time: 4, votes: [0: 0, 1: 0]))
  }

  @Test("When a member has arrived and leaves before the round ends, then its vote goes with it")
  func voteGoesWithItsMember() {
    var meeting = Meeting(members: [0, 1, 2])
    _ = meeting.arrive(0, vote: 1, at: 1)
    _ = meeting.arrive(1, vote: 0, at: 2)
    let ends = [meeting.leave(0, at: 3), meeting.arrive(2, vote: 0, at: 4)]
    #expect(ends == [false, true])
    #expect(meeting.latest?.votes == [1: 0, 2: 0])
    #expect(meeting.latest?.leader == 1)
  }

  @Test("When all members leave, then no round ends")
  func allLeave() {
    var meeting = Meeting(members: [0, 1])
    let ends = [meeting.leave(0, at: 1), meeting.leave(1, at: 2), meeting.leave(1, at: 3)]
    #expect(ends == [false, false, false])
    #expect(meeting.rounds == 0 && meeting.latest == nil)
  }
}
