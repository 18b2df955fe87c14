/// Reads the server's history page by page, newest test first: the whole history the first time, later only the part
/// that is not known yet. A pure value.
///
/// A test enters the history when its result does, at the position of the test's own time. So each reading goes back
/// to the time of the last reading, or to the oldest test in question if that is earlier. A page may be shorter than
/// requested although more pages follow: only a page without any new test is the last one.
struct HistoryReading {
  static let pageSize = 100
  /// Limit for a server that never sends a last page.
  static let pageLimit = 1000

  /// The tests whose fences the server has, by their UUIDs in lower case.
  private(set) var tests: [String: HistoryItem] = [:]
  /// The time of the newest test seen, in milliseconds; the next reading starts from it.
  private(set) var cursor: Int64?
  /// Where the next page begins; `nil` when no further page is needed.
  private(set) var offset: Int? = 0
  /// Whether the page limit ended the reading before the last page.
  private(set) var isEndless = false
  /// Whether none of its entries names a test: then it says nothing about any.
  var isUnreadable: Bool { hasEntries && tests.isEmpty }
  private var hasEntries = false
  private let bound: Int64?
  private var pages = 0
  private var isSorted = true
  private var last = Int64.max

  /// - Parameter oldest: The time of the oldest test in question, in milliseconds.
  init(cursor: Int64?, oldest: Int64) {
    self.cursor = cursor
    bound = cursor.map { min($0, oldest) }
  }

  mutating func append(_ page: HistoryPage) {
    let known = tests.count
    for item in page.items {
      tests.merge([(item.testUUID.lowercased(), item)], uniquingKeysWith: HistoryItem.fuller)
      guard let time = item.time else { continue }
      cursor = max(cursor ?? time, time)
      isSorted = isSorted && time <= last
      last = time
    }
    hasEntries = hasEntries || page.entries > 0
    pages += 1
    // If the server does not sort by time, read to the end.
    let isFarEnough = bound.map { isSorted && last < $0 } ?? false
    // If a page has nothing new, the server ignores the offset.
    let isRepeated = !page.items.isEmpty && tests.count == known
    let isOver = page.entries == 0 || isRepeated || isFarEnough
    isEndless = !isOver && pages >= Self.pageLimit
    offset = isOver || isEndless ? nil : (offset ?? 0) + page.entries
  }
}
