import Coverage
import TestSupport
import Testing

@testable import Driving

/// The rows of a write, and the rows that are left after it.
struct UnsavedRowsTests {
  private var rows = UnsavedRows()

  private mutating func write() -> StoreWrite { rows.write(started: .sampleStart, seen: .seconds(9)) }

  @Test("when a write succeeds, then its rows are removed, but not those that changed since")
  mutating func changed() {
    rows.insert(Fence.sample(number: 1))
    rows.insert(Fence.sample(number: 0))
    rows.insert(Session(number: 0, started: .start))
    let first = write()
    #expect(first.fences.map(\.number) == [0, 1] && first.sessions.count == 1)
    rows.insert(Fence.sample(number: 1, pings: 41))
    rows.remove(first)
    #expect(rows.fenceCount == 1 && !rows.isEmpty)
    let second = write()
    #expect(second.fences.map(\.pings) == [41] && second.sessions.isEmpty)
    rows.remove(second)
    #expect(rows.isEmpty)
  }

  @Test("when a write fails, then the next one has its rows as well, and its success counts for both")
  mutating func failed() {
    rows.insert(Fence.sample(number: 0))
    let first = write()
    rows.insert(Fence.sample(number: 1))
    let second = write()
    #expect(first.fences.count == 1 && second.fences.map(\.number) == [0, 1])
    #expect(second.number > first.number)
    rows.remove(second)
    #expect(rows.isEmpty)
  }

  @Test("when the same write succeeds twice, then no row that came in between is lost")
  mutating func twice() {
    rows.insert(Fence.sample(number: 0))
    let first = write()
    rows.remove(first)
    rows.insert(Fence.sample(number: 0, pings: 50))
    rows.remove(first)
    #expect(rows.fenceCount == 1)
  }
}
