import Store
import TestSupport
import Testing

@testable import Service

/// Which speed tests a follower of the live page gets as they change or are deleted.
struct SpeedTestFeedTests {
  private func versions(_ texts: String...) -> [SpeedTestVersion] {
    texts.enumerated().map { SpeedTestVersion(id: Int64($0 + 7), text: $1) }
  }

  @Test("when a test is new or its state changes, then it is sent; an unchanged test is not sent again")
  func changes() {
    var feed = SpeedTestFeed()
    #expect(feed.advance(to: []).isEmpty)
    #expect(feed.advance(to: versions("measuring")) == [7])
    #expect(feed.advance(to: versions("measuring")).isEmpty)
    #expect(feed.advance(to: versions("waiting", "measuring")) == [7, 8])
    #expect(feed.advance(to: versions("waiting", "waiting")) == [8])
    #expect(feed.advance(to: versions("submitted", "waiting")) == [7])
    #expect(feed.advance(to: versions("submitted", "waiting")).isEmpty)
  }

  @Test("when there are more tests than an event has, then the next events have the others, each once")
  func many() {
    var (feed, sent) = (SpeedTestFeed(), [Int64]())
    let all = (1...450).map { SpeedTestVersion(id: Int64($0), text: "waiting") }
    for size in [200, 200, 50, 0] {
      let ids = feed.advance(to: all)
      #expect(ids.count == size)
      sent += ids
    }
    #expect(sent == all.map(\.id))
  }

  @Test("when a test was deleted, then the others are not sent again")
  func deleted() {
    var feed = SpeedTestFeed()
    #expect(feed.advance(to: versions("a", "b", "c")) == [7, 8, 9])
    #expect(feed.advance(to: [SpeedTestVersion(id: 9, text: "c")]).isEmpty)
  }

  @Test("when states change in any order, then a follower ends with the last state of each test")
  func anyOrder() {
    for seed in 0..<200 as Range<UInt64> {
      var (random, feed) = (SeededGenerator(seed: seed), SpeedTestFeed())
      var (store, page): ([Int64: Int], [Int64: Int]) = ([:], [:])
      var present: [SpeedTestVersion] {
        store.keys.sorted().map { SpeedTestVersion(id: $0, text: String(store[$0] ?? 0)) }
      }
      for _ in 0..<60 {
        let id = Int64.random(in: 1...9, using: &random)
        store[id] = (store[id] ?? 0) + 1
        if Int.random(in: 0..<12, using: &random) == 0 { feed = SpeedTestFeed() }
        guard Bool.random(using: &random) else { continue }
        for id in feed.advance(to: present) { page[id] = store[id] }
      }
      for id in feed.advance(to: present) { page[id] = store[id] }
      #expect(page == store, "seed \(seed)")
    }
  }
}
