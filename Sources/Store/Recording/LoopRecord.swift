import Foundation
import GRDB

/// The stored state of the loop of speed tests.
public struct LoopRecord: Sendable {
  let store: StoreDatabase

  /// The state as `LoopMemory` wrote it, as JSON; `nil` when there is none, or it is damaged.
  /// - Throws: GRDB's `DatabaseError`
  public func memory() async throws -> String? {
    try await store.readAmongWrites { db in try String.fetchOne(db, sql: "SELECT memory FROM intact_loop WHERE id = 1")
    }
  }

  /// Stores the state; it is durable on return.
  /// - Throws: GRDB's `DatabaseError`
  public func persist(_ memory: String) async throws {
    try await store.write { [copies = store.copies] db in
      try db.execute(sql: "INSERT OR REPLACE INTO loop (id, memory) VALUES (1, ?)", arguments: [memory])
      try copies.keep(.loop, 1, db)
    }
  }
}
