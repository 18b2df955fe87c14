import Coverage
import GRDB

/// The intact speed tests of a store, oldest first, some at a time: the curves of a test need tens of kilobytes.
public struct StoredSpeedTests: Sendable {
  private let reader: StoreReader
  /// The most rows of one read.
  var size = 20

  /// - Parameter reader: Reads the store.
  public init(_ reader: StoreReader) { self.reader = reader }

  /// Calls `body` with each test. A test that begins meanwhile may be included or not; no test is included twice.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (StoredSpeedTest) throws -> Void) throws {
    var (last, isLastPage) = (Int64.min, false)
    while !isLastPage {
      let rows = try reader.rows(
        "SELECT \(StoredSpeedTest.columns) FROM intact_speed_test WHERE id > ? ORDER BY id LIMIT \(size)", [last])
      for row in rows {
        last = row["id"]
        if let test = StoredSpeedTest(row: row) { try body(test) }
      }
      isLastPage = rows.count < size
    }
  }
}
