import Synchronization

/// ``Meeting`` for threads: the threads of a test wait here between phases.
///
/// Waiting does not look for an abort. A thread that is not waiting sees the abort, and leaves, which ends the round for the
/// others.
final class Barrier: Sendable {
  private struct State {
    var meeting: Meeting
    /// Open at the end of the present round.
    var roundEnds = Latch()

    mutating func endRound() {
      roundEnds.open()
      roundEnds = Latch()
    }
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - members: The number of threads; they are named by 0 ..< members.
  ///   - now: ns of the clock of the deadlines.
  init(members: Int, now: @escaping @Sendable () -> Int64) {
    state = Mutex(State(meeting: Meeting(members: Set(0..<members))))
    self.now = now
  }

  /// Arrives with a vote, and waits until all other members have arrived or left.
  /// - Throws: ``SpeedTestError/timeout(_:)`` at `deadline` (ns of the clock). The caller must leave then: its vote is still
  ///   counted.
  func meet(_ member: Int, vote: Int64 = 0, by deadline: Int64) throws(SpeedTestError) -> Meeting.Release {
    let (round, ends) = state.withLock { state in
      // Read before arriving, which may end the round.
      let (round, ends) = (state.meeting.rounds, state.roundEnds)
      if state.meeting.arrive(member, vote: vote, at: now()) { state.endRound() }
      return (round, ends)
    }
    while state.withLock({ $0.meeting.rounds == round }) {
      let left = deadline - now()
      guard left > 0 else { throw .timeout("another connection did not end its phase") }
      // Unit tests turn the clock of the deadline by hand, which ends no wait of a latch: so each wait is short.
      ends.wait(nanoseconds: min(left, 500_000_000))
    }
    guard let release = state.withLock({ $0.meeting.latest }) else { throw .timeout("no connection is left") }
    return release
  }

  /// Every thread calls it at its end, also after an error: the others would wait for it until their deadline.
  func leave(_ member: Int) {
    state.withLock { state in
      if state.meeting.leave(member, at: now()) { state.endRound() }
    }
  }
}
