import TestSupport
import Testing

@testable import Store

/// Elements that are produced ahead arrive once each, in their order.
struct ReadAheadTests {
  private struct Broken: Error {}

  @Test("when elements are produced ahead, then they arrive in their order, and the end stays the end")
  func order() throws {
    var last = 0
    let ahead = ReadAhead<Int> {
      last += 1
      return last <= 100 ? last : nil
    }
    for expected in 1...100 { #expect(try ahead.next() == expected) }
    #expect(try ahead.next() == nil)
    #expect(try ahead.next() == nil)
  }

  @Test("when production fails, then the elements before arrive first, and the error each time after them")
  func failure() throws {
    var last = 0
    let ahead = ReadAhead<Int> {
      last += 1
      if last == 3 { throw Broken() }
      return last
    }
    #expect(try ahead.next() == 1)
    #expect(try ahead.next() == 2)
    #expect(throws: Broken.self) { try ahead.next() }
    #expect(throws: Broken.self) { try ahead.next() }
  }

  @Test("when elements are not read, then only one is produced ahead")
  func bounded() throws {
    let produced = Counter()
    let ahead = ReadAhead<Int> { produced.increment() }
    #expect(try ahead.next() == 1)
    #expect(try ahead.next() == 2)
    let third = try ahead.next()
    #expect(third == 3 && (3...4).contains(produced.count))
  }
}
