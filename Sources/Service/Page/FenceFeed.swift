/// Which fences a follower of the live page still lacks.
///
/// Ids are given when a fence begins, and several links have fences at a time, so a fence can end after one with a higher id. The
/// place at which a follower resumes after a broken connection is therefore below the first open fence. After a reconnect,
/// fences above that place can repeat.
struct FenceFeed: Hashable, Sendable {
  /// All fences up to this id have been sent, or never will be.
  private(set) var place: Int64
  /// The fences above ``place`` that have been sent.
  private var sent: Set<Int64> = []

  /// - Parameter place: Where the follower goes on; 0: at the beginning.
  init(place: Int64) { self.place = place }

  /// Applies a reading of the store.
  /// - Parameters:
  ///   - ended: The ids of ended fences above ``place``, all up to the highest of them.
  ///   - open: The lowest id of the fences that have not ended.
  /// - Returns: The ids to send now.
  mutating func advance(ended: [Int64], open: Int64?) -> Set<Int64> {
    let new = Set(ended).subtracting(sent)
    sent.formUnion(new)
    let highest = max(place, ended.max() ?? place)
    place = max(place, min(highest, open.map { $0.saturatingSubtracting(1) } ?? highest))
    sent = sent.filter { $0 > place }
    return new
  }
}
