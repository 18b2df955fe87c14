import Foundation

/// ``Meeting`` for threads: the threads of a test wait here between phases.
///
/// Waiting does not look for an abort. A thread that is not waiting sees the abort, and leaves, which ends the round for the
/// others.
final class Barrier: @unchecked Sendable {
  private let condition = NSCondition()
  private var meeting: Meeting
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - members: The number of threads; they are named by 0 ..< members.
  ///   - now: ns of the clock of the deadlines.
  init(members: Int, now: @escaping @Sendable () -> Int64) {
    meeting = Meeting(members: Set(0..<members))
    self.now = now
  }

  /// Arrives with a vote, and waits until all other members have arrived or left.
  /// - Throws: ``SpeedTestError/timeout(_:)`` at `deadline` (ns of the clock). The caller must leave then: its vote is still
  ///   counted.
  func meet(_ member: Int, vote: Int64 = 0, by deadline: Int64) throws(SpeedTestError) -> Meeting.Release {
    condition.lock()
    defer { condition.unlock() }
    // Read before arriving, which may end the round.
    let round = meeting.rounds
    if meeting.arrive(member, vote: vote, at: now()) { condition.broadcast() }
    while meeting.rounds == round {
      let left = deadline - now()
      guard left > 0 else { throw .timeout("another connection did not end its phase") }
      // Bounded, because the clock of a condition is not the test's.
      _ = condition.wait(until: Date(timeIntervalSinceNow: min(Double(left) / 1e9, 0.5)))
    }
    guard let release = meeting.latest else { throw .timeout("no connection is left") }
    return release
  }

  /// Every thread calls it at its end, also after an error: the others would wait for it until their deadline.
  func leave(_ member: Int) {
    condition.lock()
    defer { condition.unlock() }
    if meeting.leave(member, at: now()) { condition.broadcast() }
  }
}
