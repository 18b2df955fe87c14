import GRDB
import TestSupport

@testable import Store

extension DriveStore {
  /// Changes rows as a flipped bit on the disk would: no trigger runs.
  func damage(_ sql: String) async throws {
    try await database.write { try $0.damage(sql) }
  }
}
