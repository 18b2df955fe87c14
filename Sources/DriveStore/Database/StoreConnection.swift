import Foundation
import GRDB

/// The connection to the store. It is another one after a repair.
final class StoreConnection: @unchecked Sendable {
  private let file: StoreFile
  private let lock = NSLock()
  private var current: DatabaseQueue

  init(_ file: StoreFile, isAfterUncleanEnd: Bool) throws {
    self.file = file
    current = try file.open(isAfterUncleanEnd: isAfterUncleanEnd)
  }

  var database: DatabaseQueue { lock.withLock { current } }

  func reopen() throws {
    try lock.withLock {
      try current.close()
      current = try file.open(isAfterUncleanEnd: false)
    }
  }
}
