import Pinging
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

/// The threads of a test that meet between phases, as a value; ``Barrier`` is the shell with the lock. A round ends when all
/// members have come; no member waits for a thread that dropped out (docs/protocol.md, edge 21). Each brings a vote, and all members get the
/// same votes, so that they decide alike (edge 22).
struct Meeting: Sendable {
  /// The result of a round, the same for all members.
  struct Release: Hashable, Sendable {
    /// When the last member came or left, in ns of the clock: the common start of the next phase.
    let time: Int64
    /// The votes of the members that came.
    let votes: [Int: Int64]

    /// The lowest member. It sends the pings, and goes on alone on a slow link.
    var leader: Int? { votes.keys.min() }
  }

  private var members: Set<Int>
  /// The votes of the round under way, by member.
  private var votes: [Int: Int64] = [:]
  private(set) var rounds = 0
  /// The last round that ended.
  private(set) var latest: Release?

  init(members: Set<Int>) { self.members = members }

  /// A member has come. A member that has left already changes nothing.
  /// - Returns: Whether this ends the round.
  mutating func arrive(_ member: Int, vote: Int64, at time: Int64) -> Bool {
    guard members.contains(member) else { return false }
    votes[member] = vote
    return endRound(at: time)
  }

  /// The member takes no part any more, nor does its vote in this round.
  /// - Returns: Whether this ends the round of the others.
  mutating func leave(_ member: Int, at time: Int64) -> Bool {
    members.remove(member)
    votes[member] = nil
    return endRound(at: time)
  }

  private mutating func endRound(at time: Int64) -> Bool {
    guard !votes.isEmpty, Set(votes.keys) == members else { return false }
    rounds += 1
    latest = Release(time: time, votes: votes)
    votes = [:]
    return true
  }
}
