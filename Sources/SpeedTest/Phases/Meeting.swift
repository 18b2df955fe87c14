/// The threads of a test that meet between phases. A round ends when all members have come; no member waits
/// for a thread that dropped out (spec, edge 21). Each brings a vote, and the votes of a round are the same for all (edge 22).
struct Meeting: Sendable {
  /// The result of a round, the same for all members.
  struct Release: Hashable, Sendable {
    let round: Int
    /// ns of the clock.
    let time: Int64
    /// The votes of the members that came.
    let votes: [Int: Int64]

    /// The member that acts alone, where one has to.
    var leader: Int? { votes.keys.min() }
  }

  private var members: Set<Int>
  private var votes: [Int: Int64] = [:]
  /// The number of rounds that ended.
  private(set) var rounds = 0
  /// The last round that ended.
  private(set) var latest: Release?

  init(members: Set<Int>) { self.members = members }

  /// Whether this ends the round.
  mutating func arrive(_ member: Int, vote: Int64, at time: Int64) -> Bool {
    guard members.contains(member) else { return false }
    votes[member] = vote
    return endRound(at: time)
  }

  /// The member takes no part any more. Whether this ends the round of the others.
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
