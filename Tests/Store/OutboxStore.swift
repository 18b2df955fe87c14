import Coverage
import GRDB
import TestSupport
import Testing

@testable import Store

/// A store from which tests send fences, without a network.
struct OutboxStore {
  let store: DriveStore
  private let folder: TemporaryFolder

  var outbox: Outbox { store.outbox }
  var reader: StoreReader { StoreReader(store) }

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  /// Records an ended drive with one session.
  /// - Returns: The id of the session.
  @discardableResult
  func session(
    test: String? = nil, isAnchored: Bool = true, fences: [Fence] = OutboxStore.fences(2)
  ) throws -> Int64 {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(
      sessions: [
        Session(
          number: 0, testUUID: test, started: .start, anchor: test != nil && isAnchored ? .seconds(1) : nil,
          finalized: .seconds(100))
      ], fences: fences, seen: .seconds(100))
    return try #require(try reader.sessions().last).id
  }

  static func fences(_ count: Int) -> [Fence] {
    (0..<count).map { .sample(number: $0, entered: 10 + Double($0) * 4) }
  }

  /// Makes the batches of a session.
  @discardableResult
  func batches(of session: Int64, limit: Int = 400) async throws -> [Batch] {
    try await outbox.makeBatches(of: [session], limit: limit, at: .sampleStart)
    return try await all(of: session)
  }

  /// The batches of a session in any state.
  func all(of session: Int64) async throws -> [Batch] {
    try await outbox.batches(of: [session], in: [.waiting, .sending, .submitted, .quarantined, .replaced])
  }

  func stored(_ session: Int64) throws -> StoredSession { try #require(try reader.session(id: session)) }

  func change(_ sql: String) async throws { try await store.database.write { try $0.execute(sql: sql) } }

  func anchor(_ batch: Int64, _ test: String, at seconds: Double = 7) async throws {
    let anchor = WallTime.sampleStart + DriveTime.seconds(seconds)
    try await outbox.anchor(batch: batch, test: .init(uuid: test, anchor: anchor), loopUUID: nil, client: "C-\(test)")
  }

  func value<Value: DatabaseValueConvertible & Sendable>(_ sql: String) async throws -> Value? {
    try await store.database.read { try Value.fetchOne($0, sql: sql) }
  }
}
