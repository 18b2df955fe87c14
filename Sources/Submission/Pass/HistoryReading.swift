import ControlServer

/// Reads the server's history page by page, newest test first: whole the first time, and then as far back as is not known yet. A
/// pure value.
///
/// A test enters the history when its result does, at the place of its own time. So what is known reaches back to the last
/// reading, or to the oldest test in question where that is further. A server may give less than a page has room for, and still have
/// more: only a page without anything new is the last.
struct HistoryReading {
  static let pageSize = 100
  /// No history is longer: a server that gives pages for ever must not keep the device busy for ever.
  static let pageLimit = 1000

  /// The tests whose fences the server holds, by their UUIDs in lower case.
  private(set) var tests: [String: HistoryItem] = [:]
  /// Milliseconds: the newest test that was seen, to be kept for the next reading.
  private(set) var cursor: Int64?
  /// Where the next page begins; `nil` when no more is needed.
  private(set) var offset: Int? = 0
  /// Whether the server gave pages to the limit, and the rest is not known.
  private(set) var isEndless = false
  private let bound: Int64?
  private var pages = 0
  private var isSorted = true
  private var last = Int64.max

  /// - Parameters:
  ///   - cursor: What the last reading left; `nil` when there was none.
  ///   - oldest: The time of the oldest test in question, in milliseconds.
  init(cursor: Int64?, oldest: Int64) {
    self.cursor = cursor
    bound = cursor.map { min($0, oldest) }
  }

  mutating func append(_ page: HistoryPage) {
    let known = tests.count
    for item in page.items {
      tests[item.testUUID.lowercased()] = item
      guard let time = item.time else { continue }
      cursor = max(cursor ?? time, time)
      isSorted = isSorted && time <= last
      last = time
    }
    pages += 1
    // A server that does not sort is read to the end.
    let isFarEnough = bound.map { isSorted && last < $0 } ?? false
    // A server that ignores the offset repeats itself.
    let isRepeated = !page.items.isEmpty && tests.count == known
    let isOver = page.entries == 0 || isRepeated || isFarEnough
    isEndless = !isOver && pages >= Self.pageLimit
    offset = isOver || isEndless ? nil : (offset ?? 0) + page.entries
  }
}
