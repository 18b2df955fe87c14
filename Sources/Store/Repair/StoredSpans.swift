import Coverage
import GRDB

/// When and where a drive has fences in the store, to find those that it lacks.
///
/// Fences of a drive do not overlap: one at the same time is the same fence, or was cut differently. An open fence of the same place and
/// number that was not sent is the same fence before its end.
struct StoredSpans {
  /// The place and the time of a fence, in microseconds since the epoch.
  struct Span {
    let number: Int
    let place: Coordinate
    let begin: Int64
    let end: Int64
  }

  private var numbers: Set<Int> = []
  /// Unsent fences without an end: one at most, unless the store is damaged.
  private var open: [Int: Span] = [:]
  /// By their beginnings, the other fences of the store and those that were added: both arrive in this order.
  private var stored = Timeline()
  private var added = Timeline()

  /// Reads the intact fences of a drive.
  init(of drive: Int64, _ db: Database) throws {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT number, latitude, longitude, entered_at, coalesce(exited_at, last_seen_at, entered_at) AS until,
          exited_at IS NULL AND submitted_at IS NULL AND batch_id IS NULL AS is_open
        FROM intact_fence WHERE drive_id = ? ORDER BY entered_at
        """, arguments: [drive])
    while let row = try rows.next() {
      let (number, begin, end): (Int, Int64, Int64) = (row["number"], row["entered_at"], row["until"])
      numbers.insert(number)
      if row["is_open"], let place = Coordinate(latitude: row["latitude"], longitude: row["longitude"]) {
        open[number] = Span(number: number, place: place, begin: begin, end: end)
      } else {
        stored.insert(begin, end)
      }
    }
  }

  /// Whether none of the stored fences is `span`.
  func lacks(_ span: Span) -> Bool {
    if let same = open[span.number] {
      guard same.place == span.place else { return false }
    } else if numbers.contains(span.number) {
      return false
    }
    return !stored.overlaps(span) && !added.overlaps(span)
      && !open.values.contains { $0.number != span.number && $0.begin < span.end && $0.end > span.begin }
  }

  /// Adds a fence that the store has now.
  mutating func add(_ span: Span) {
    open[span.number] = nil
    numbers.insert(span.number)
    added.insert(span.begin, span.end)
  }

  /// Spans by their beginnings, each with the latest end up to it.
  private struct Timeline {
    private var begins: [Int64] = []
    private var latestEnds: [Int64] = []

    mutating func insert(_ begin: Int64, _ end: Int64) {
      let index = count(before: begin)
      begins.insert(begin, at: index)
      latestEnds.insert(max(end, index > 0 ? latestEnds[index - 1] : .min), at: index)
      var later = index + 1
      while later < latestEnds.count, latestEnds[later] < end {
        latestEnds[later] = end
        later += 1
      }
    }

    func overlaps(_ span: Span) -> Bool {
      let index = count(before: span.end)
      return index > 0 && latestEnds[index - 1] > span.begin
    }

    /// The number of spans that begin before `time`.
    private func count(before time: Int64) -> Int { begins.partitionPoint({ $0 < time }) }
  }
}
