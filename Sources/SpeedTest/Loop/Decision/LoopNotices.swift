import Coverage

/// Gives one notice for each kind of hold of a due test, with a least time between any two. A pure value; times are loop times in
/// microseconds.
struct LoopNotices: Hashable, Sendable, Codable {
  /// The holds of the next test that had their notice.
  private(set) var given: Set<LoopHold> = []
  /// When the last notice was given, for whichever test.
  private(set) var last: Int64?

  /// Whether to give the notice of `hold` now.
  mutating func give(_ hold: LoopHold, at now: Int64) -> Bool {
    guard !given.contains(hold), next(hold).map({ $0 <= now }) ?? true else { return false }
    given.insert(hold)
    last = now
    return true
  }

  /// The earliest time for the notice of `hold`; `nil` when it was given or may be given at once.
  func next(_ hold: LoopHold) -> Int64? {
    guard !given.contains(hold), let last else { return nil }
    return last.saturatingAdding(LoopRules.noticeSpacing.inMicroseconds)
  }

  /// A test started: the next one has its own notices.
  mutating func testStarted() { given = [] }
}
