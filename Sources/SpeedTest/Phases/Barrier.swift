import Foundation

/// ``Meeting`` for threads.
final class Barrier: @unchecked Sendable {
  private let condition = NSCondition()
  private var meeting: Meeting
  private let now: @Sendable () -> Int64

  init(members: Int, now: @escaping @Sendable () -> Int64) {
    meeting = Meeting(members: Set(0..<members))
    self.now = now
  }

  /// Waits for the other members.
  /// - Throws: ``SpeedTestError/timeout(_:)`` at `deadline` (ns of the clock).
  func meet(_ member: Int, vote: Int64 = 0, by deadline: Int64) throws(SpeedTestError) -> Meeting.Release {
    condition.lock()
    defer { condition.unlock() }
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

  func leave(_ member: Int) {
    condition.lock()
    defer { condition.unlock() }
    if meeting.leave(member, at: now()) { condition.broadcast() }
  }
}
