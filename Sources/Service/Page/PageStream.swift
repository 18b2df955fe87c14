import Export
import Foundation
import Store

/// The events for one follower of the live page: all fences of the newest drive, or the fences after its last one; the
/// speed tests beside them, and the state each second. It reads beside the writer, so that no follower delays a fence.
struct PageStream: Sendable {
  let service: any ServiceCommands
  let store: DriveStore

  /// The most fences of one event.
  private static let fencesPerEvent = 2000

  /// Runs until the task is cancelled or `send` throws.
  /// - Parameters:
  ///   - last: The number of the last event that the follower has; `nil` for a new follower.
  ///   - send: Receives bytes; returns when the follower can take more.
  /// - Throws: Errors of `send`, and GRDB's `DatabaseError`.
  func run(after last: Int64?, send: ([UInt8]) async throws -> Void) async throws {
    try await send(PageEvent.retry)
    var last = last
    if let known = last, try await store.reading({ try $0.newestFence() }) < known {
      last = nil
      try await send(PageEvent(kind: .reset, data: [UInt8(ascii: "1")], id: 0).bytes)
    }
    // With 0 for a browser that has connected before and has no fence yet.
    let isNew = last == nil || last == 0
    let drive = isNew ? try await store.reading { try $0.newestDrive() ?? 0 } : 0
    // Unlike fences, tests change after they were sent: all since the drive of the follower's last fence are sent again.
    let firstTest = try await firstSpeedTest(after: isNew ? nil : last)
    var (feed, tests, trail) = (FenceFeed(place: last ?? 0), SpeedTestFeed(), FenceTrail())
    // The follower has the fences to which the next ones are joined.
    if let last, !isNew {
      for fence in try await store.reading({ try $0.lastFences(upTo: last) }) {
        _ = trail.joined(FenceRecord(fence)) { _ in nil }
      }
    }
    while !Task.isCancelled {
      while let event = try await fences(&feed, &trail, fromDrive: drive) { try await send(event.bytes) }
      while let event = try await speedTests(&tests, from: firstTest) { try await send(event.bytes) }
      let status = await service.status()
      try await send(PageEvent(kind: .status, data: Array(status.json.text.utf8)).bytes)
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// The next fences; `nil` when there are none now.
  private func fences(_ feed: inout FenceFeed, _ trail: inout FenceTrail, fromDrive drive: Int64) async throws
    -> PageEvent?
  {
    let place = feed.place
    let (ended, open) = try await store.reading { reader in
      // The open one first: a fence that ends meanwhile is sent with the next event.
      let open = try reader.firstOpenFence(fromDrive: drive)
      return (try reader.endedFences(after: place, fromDrive: drive, limit: Self.fencesPerEvent), open)
    }
    let new = feed.advance(ended: ended.map(\.id), open: open)
    guard !new.isEmpty else { return nil }
    let records = ended.filter { new.contains($0.id) }.map { trail.joined(FenceRecord($0)) { _ in nil } }
    return PageEvent(kind: .fences, data: LivePage.chunk(records), id: feed.place)
  }

  /// The first speed test of the drive that the follower has seen last; of the newest drive for a new follower.
  private func firstSpeedTest(after fence: Int64?) async throws -> Int64 {
    try await store.reading { reader in
      let seen = try fence.flatMap { try reader.drive(ofFence: $0) }
      let drive = if let seen { seen } else { try reader.newestDrive() ?? 0 }
      return try reader.firstSpeedTest(fromDrive: drive)
    }
  }

  /// The next speed tests; `nil` when the follower has all of them.
  private func speedTests(_ feed: inout SpeedTestFeed, from first: Int64) async throws -> PageEvent? {
    let ids = feed.advance(to: try await store.reading { try $0.speedTestVersions(from: first) })
    guard !ids.isEmpty else { return nil }
    let tests = try await store.reading { try $0.speedTests(ids: ids) }
    return PageEvent(kind: .tests, data: LivePage.speedTests(tests))
  }
}

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

/// Which fences a follower of the live page still lacks.
///
/// Ids are given when a fence begins, and several links have fences at a time, so a fence can end after one with a higher id. The
/// place at which a follower resumes after a broken connection is therefore below the first open fence. After a reconnect,
/// fences above that place can repeat.
struct FenceFeed: Hashable, Sendable {
  /// All fences up to this id have been sent, or never will be.
  private(set) var place: Int64
  /// The fences above ``place`` that have been sent.
  private var sent: Set<Int64> = []

  init(place: Int64) { self.place = place }

  /// Applies a reading of the store.
  /// - Parameters:
  ///   - ended: The ids of ended fences above ``place``, all up to the highest of them.
  ///   - open: The lowest id of the fences that have not ended.
  /// - Returns: The ids to send now.
  mutating func advance(ended: [Int64], open: Int64?) -> Set<Int64> {
    let new = Set(ended).subtracting(sent)
    sent.formUnion(new)
    let highest = max(place, ended.max() ?? place)
    place = max(place, min(highest, open.map { $0.saturatingSubtracting(1) } ?? highest))
    sent = sent.filter { $0 > place }
    return new
  }
}

/// An event of the stream that the live page follows, as server-sent events have it (HTML, 9.2).
struct PageEvent: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable {
    /// Fences, as columns.
    case fences
    /// Speed tests, each as an object. The page replaces a test that has the same id.
    case tests
    /// The service's state.
    case status
    /// The store was replaced: the page drops its fences and starts again.
    case reset
  }

  var kind: Kind
  /// Without line ends.
  var data: [UInt8]
  /// The `Last-Event-ID` that the browser sends when it reconnects.
  var id: Int64?

  var bytes: [UInt8] {
    var bytes = Array("event: \(kind.rawValue)\n".utf8)
    if let id { bytes += Array("id: \(id)\n".utf8) }
    return bytes + Array("data: ".utf8) + data.filter { $0 != 0x0A && $0 != 0x0D } + Array("\n\n".utf8)
  }

  /// How long a browser waits before it connects again.
  static let retry = Array("retry: 2000\n\n".utf8)
}
