import TestSupport
import Testing

@testable import Service

/// Which fences a follower of the live page gets, for any order of ended fences and broken connections.
struct FenceFeedTests {
  @Test("when fences end in order, then each is sent once, and the place moves with them")
  func inOrder() {
    var feed = FenceFeed(place: 0)
    #expect(feed.advance(ended: [1, 2], open: 3) == [1, 2] && feed.place == 2)
    #expect(feed.advance(ended: [], open: 3).isEmpty && feed.place == 2)
    #expect(feed.advance(ended: [3], open: nil) == [3] && feed.place == 3)
  }

  @Test("when a later fence ends first, as on another link, then the place stays below the open one")
  func outOfOrder() {
    var feed = FenceFeed(place: 9)
    #expect(feed.advance(ended: [11], open: 10) == [11] && feed.place == 9)
    #expect(feed.advance(ended: [11, 12], open: 10) == [12] && feed.place == 9)
    #expect(feed.advance(ended: [10, 11, 12], open: nil) == [10] && feed.place == 12)
  }

  @Test("when an older open fence lies below the place, then the place does not go back")
  func oldOpenFence() {
    var feed = FenceFeed(place: 50)
    #expect(feed.advance(ended: [51], open: 3) == [51] && feed.place == 50)
    #expect(feed.advance(ended: [51], open: .min).isEmpty && feed.place == 50)
  }

  /// A drive over some links: fences begin with rising ids and end in any order.
  private struct Drive {
    var next: Int64 = 1
    var open: Set<Int64> = []
    var ended: Set<Int64> = []

    mutating func step(_ random: inout SeededGenerator) {
      if open.count < 3, Bool.random(using: &random) {
        open.insert(next)
        next += 1
      } else if let fence = open.randomElement(using: &random) {
        open.remove(fence)
        ended.insert(fence)
      }
    }
  }

  @Test(
    "when connections break at any moment, then a follower gets every ended fence, and duplicates only after a break")
  func anyOrder() {
    for seed in 0..<300 as Range<UInt64> {
      var (random, drive, feed) = (SeededGenerator(seed: seed), Drive(), FenceFeed(place: 0))
      var (has, sinceBreak): (Set<Int64>, Set<Int64>) = ([], [])
      for _ in 0..<120 {
        drive.step(&random)
        if Int.random(in: 0..<10, using: &random) == 0 {
          (feed, sinceBreak) = (FenceFeed(place: feed.place), [])
        }
        guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
        // Like the store: at most the 10 lowest fences above the place.
        let ended = Array(drive.ended.filter { $0 > feed.place }.sorted().prefix(10))
        let new = feed.advance(ended: ended, open: drive.open.min())
        #expect(new.isDisjoint(with: sinceBreak), "seed \(seed)")
        sinceBreak.formUnion(new)
        has.formUnion(new)
        #expect(drive.open.allSatisfy { $0 > feed.place }, "an open fence is never passed; seed \(seed)")
      }
      drive.ended.formUnion(drive.open)
      drive.open = []
      for _ in 0..<20 {
        has.formUnion(feed.advance(ended: Array(drive.ended.filter { $0 > feed.place }.sorted().prefix(10)), open: nil))
      }
      #expect(has == drive.ended, "seed \(seed)")
    }
  }

  @Test("when an event is written, then it has its kind, an id if it was given, and its data in one line")
  func events() {
    let status = PageEvent(kind: .status, data: Array("{\"a\":1}".utf8))
    #expect(String(decoding: status.bytes, as: UTF8.self) == "event: status\ndata: {\"a\":1}\n\n")
    let fences = PageEvent(kind: .fences, data: Array("a\nid: 9\r\nb".utf8), id: 7)
    #expect(String(decoding: fences.bytes, as: UTF8.self) == "event: fences\nid: 7\ndata: aid: 9b\n\n")
  }

  @Test("when the most followers are connected, then there is no place until one leaves")
  func places() {
    let followers = PageFollowers(most: 2)
    var (first, second) = (followers.place(), followers.place())
    #expect(first != nil && second != nil && followers.place() == nil)
    first = nil
    #expect(followers.place() != nil, "a place is returned at once")
    second = nil
    first = followers.place()
    #expect(first != nil && second == nil)
  }

  @Test("when a write takes too long, then the watch ends; while writes end in time, it continues")
  func watch() async throws {
    let watch = WriteWatch(patience: .milliseconds(50))
    try await watch.writing {}
    let waiting = Task { await watch.wait() }
    let stuck = Task { try await watch.writing { try await Task.sleep(for: .seconds(600)) } }
    await waiting.value
    stuck.cancel()
    _ = await stuck.result
    let patient = WriteWatch(patience: .seconds(600))
    let cancelled = Task { await patient.wait() }
    cancelled.cancel()
    await cancelled.value
  }
}
