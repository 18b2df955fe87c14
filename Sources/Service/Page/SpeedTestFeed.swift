import Store

/// Which speed tests a follower of the live page lacks, or has in an earlier state.
///
/// After a broken connection it starts again with all of them: the page knows them by their ids.
struct SpeedTestFeed: Hashable, Sendable {
  /// The most tests of one event.
  static let testsPerEvent = 200

  /// The versions of the sent tests, by id.
  private var sent: [Int64: String] = [:]

  /// Takes over what the store has.
  /// - Parameter present: The states of the tests, oldest test first.
  /// - Returns: The ids to send now; more of them with the next call.
  mutating func advance(to present: [SpeedTestVersion]) -> [Int64] {
    let new = present.filter { sent[$0.id] != $0.text }.prefix(Self.testsPerEvent)
    for test in new { sent[test.id] = test.text }
    return new.map(\.id)
  }
}
