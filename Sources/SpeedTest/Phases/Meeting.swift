/// The threads of a test that meet between phases, as a value; ``Barrier`` is the shell with the lock. A round ends when all
/// members have come; no member waits for a thread that dropped out (docs/protocol.md, edge 21). Each brings a vote, and all members get the
/// same votes, so that they decide alike (edge 22).
struct Meeting: Sendable {
  /// The result of a round, the same for all members.
  struct Release: Hashable, Sendable {
    /// From 1 on.
    let round: Int
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
  /// The number of rounds that ended.
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
    latest = Release(round: rounds, time: time, votes: votes)
    votes = [:]
    return true
  }
}
